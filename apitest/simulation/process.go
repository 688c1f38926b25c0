package simulation

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/internal/timing"
)

// process is a program of the simulation, in one life or between two.
type process struct {
	definition
	world *world

	mu       sync.Mutex
	server   int              // guarded by mu; which one it talks to
	life     *life            // guarded by mu; nil: it is down
	lives    int              // guarded by mu
	armed    []*arming        // guarded by mu; what happens to coming requests
	frozen   [2]chan struct{} // guarded by mu; by direction, each closed at the thaw
	freezes  [2]int           // guarded by mu; how many last, by direction
	slowness []int            // guarded by mu; how many times as long everything takes: the largest counts
}

// direction is that in which something travels.
type direction int

const (
	towards direction = iota // the server
	back
)

// restart is how long a kubelet waits until it starts a program again that has ended.
const restart = 10 * time.Second

// agent is what the process says that it is.
func (p *process) agent() string { return "simulation-" + p.name + "/" }

// start begins a life, unless the process lives or the simulation is over.
func (p *process) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.world
	if p.life != nil || w.ctx.Err() != nil || w.stopping.Load() {
		return
	}
	p.lives++
	l := &life{
		process: p, number: p.lives,
		dead: make(chan struct{}), done: make(chan struct{}),
		asked: map[string]int{}, streams: map[*stream]struct{}{},
	}
	ctx := klog.NewContext(w.ctx, w.logger(l.name()))
	ctx = timing.WithRandom(ctx, timing.NewRandom(w.random("life", l.name())))
	l.ctx, l.cancel = context.WithCancel(context.WithValue(ctx, lifeKey{}, l))
	p.life = l
	w.note(l.name(), "starts, with server %d", p.server)
	w.running.Go(func() { p.live(l) })
}

// live calls run once, and starts the process again if it has ended by itself.
func (p *process) live(l *life) {
	err := p.call(l)
	close(l.done)
	crashed := l.ctx.Err() != nil
	l.end()
	if crashed {
		return
	}
	p.world.note(l.name(), "has ended by itself: %v", err)
	p.forget(l)
	p.world.later(restart, p.start)
}

// call calls run. A panic fails the simulation, and so does the end of the goroutine.
func (p *process) call(l *life) error {
	var err error
	failure := contain(func() error {
		err = p.run(l.ctx, &rest.Config{Host: "http://simulation.invalid", Transport: l, QPS: -1})
		return nil
	})
	if failure != nil {
		p.world.fail("process "+p.name, failure)
		return failure
	}
	return err
}

// forget notes that the process is down, and reports whether it was in this life.
func (p *process) forget(l *life) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	lived := p.life == l
	if lived {
		p.life = nil
	}
	return lived
}

// present returns the present life, nil if the process is down.
func (p *process) present() *life {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.life
}

// crash ends a life at once. The next one begins some time after run has returned.
func (p *process) crash(l *life, how string, back time.Duration) {
	if !p.forget(l) {
		return
	}
	p.world.note(l.name(), "crashes %s, for %v", how, back)
	l.end()
	p.world.running.Go(func() {
		p.world.await(l)
		p.world.later(back, p.start)
	})
}

// end cuts a life off: none of its requests is answered any more.
func (l *life) end() {
	l.ending.Do(func() {
		close(l.dead)
		l.cancel()
		for _, s := range l.open() {
			s.cut(errCrashed)
		}
	})
}

// open returns the open watches of a life, in an order that is the same in each run of a seed.
func (l *life) open() []*stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.SortedFunc(maps.Keys(l.streams), func(a, b *stream) int { return cmp.Compare(a.identity, b.identity) })
}

// serverNow returns the server that the process is connected with.
func (p *process) serverNow() *server {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.world.servers[p.server]
}

// slowest is how long something travels at most.
const slowest = time.Minute

// takes returns how long something travels that sets out now.
func (p *process) takes(random *rand.Rand) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return min(latency(random)*time.Duration(slices.Max(append([]int{1}, p.slowness...))), slowest)
}

// travel waits as long as something travels, and while the way is frozen.
func (p *process) travel(random *rand.Rand, way direction, late time.Duration, gone <-chan struct{}) {
	time.Sleep(p.takes(random) + late)
	p.pass(way, gone)
}

// pass waits while the way is frozen, or until gone is closed.
func (p *process) pass(way direction, gone <-chan struct{}) {
	for {
		p.mu.Lock()
		frozen := p.frozen[way]
		p.mu.Unlock()
		if frozen == nil {
			return
		}
		select {
		case <-frozen:
		case <-gone:
			return
		}
	}
}

// freeze stops what travels in a direction until the function that it returns is called.
func (p *process) freeze(way direction) (thaw func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.freezes[way]++; p.freezes[way] == 1 {
		p.frozen[way] = make(chan struct{})
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.freezes[way]--; p.freezes[way] == 0 {
			close(p.frozen[way])
			p.frozen[way] = nil
		}
	}
}
