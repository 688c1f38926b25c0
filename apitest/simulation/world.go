package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
)

// servers is how many API servers there are on the store. Users have the first one, to
// which nothing happens.
const servers = 3

// server is one of the API servers.
type server struct {
	*apitest.Server
	number int
	trip   func(*http.Request) (*http.Response, error)
}

// world is one run of a plan: everything in it is in one bubble of virtual time.
type world struct {
	plan      plan
	sim       *Simulation
	begun     time.Time
	ctx       context.Context
	cancel    context.CancelFunc
	servers   []*server
	processes []*process
	user      user
	trace     trace

	running  sync.WaitGroup // processes, and what starts them again
	carrying sync.WaitGroup // requests, and streams
	stirred  chan struct{}  // something has happened since the checks
	stopping atomic.Bool    // no process is started any more
	steps    atomic.Uint64  // how often something has happened; for the watchdog

	mu     sync.Mutex
	failed *Failure // guarded by mu; the first
	end    []func() // guarded by mu; what ends faults that last
	writes []Write  // guarded by mu
}

// newWorld makes what a plan needs.
func newWorld(p plan, s *Simulation, detailed bool) (*world, error) {
	w := &world{plan: p, sim: s, begun: time.Now(), stirred: make(chan struct{}, 1)}
	w.trace.detailed = detailed
	w.ctx, w.cancel = context.WithCancel(context.Background())
	first, err := apitest.NewServer(append([]apitest.Option{apitest.WithSeed(p.seed)}, s.options...)...)
	if err != nil {
		return nil, err
	}
	w.add(first)
	for range servers - 1 {
		replica, err := first.Replica()
		if err != nil {
			return nil, errors.Join(err, first.Close())
		}
		w.add(replica)
	}
	w.user.config = w.config()
	w.user.client, err = kubernetes.NewForConfig(w.user.config)
	if err != nil {
		return nil, errors.Join(err, first.Close())
	}
	for i, d := range s.processes {
		w.processes = append(w.processes, &process{definition: d, world: w, server: 1 + i%(servers-1)})
	}
	return w, nil
}

func (w *world) add(s *apitest.Server) {
	toAll := apitest.Balance(func(*http.Request) *apitest.Server { return s }) // whatever requests are for
	w.servers = append(w.servers, &server{s, len(w.servers), toAll.Transport.RoundTrip})
}

// config returns the client configuration of users.
func (w *world) config() *rest.Config {
	return &rest.Config{Host: "http://simulation.invalid", Transport: users{w}, QPS: -1}
}

// users is the transport of what users do. It notes what they write.
type users struct{ world *world }

// RoundTrip implements http.RoundTripper.
func (u users) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := u.world.servers[0].trip(r)
	if what := parseTarget(r); err == nil && what.writes() {
		u.world.noteAnswer("users", "users", what, response, nil)
	}
	return response, err
}

func (w *world) random(what ...string) *rand.Rand { return randomFor(w.plan.seed, what...) }

// elapsed returns how much virtual time has gone by.
func (w *world) elapsed() time.Duration { return time.Since(w.begun) }

// stir triggers the checks.
func (w *world) stir() {
	w.steps.Add(1)
	select {
	case w.stirred <- struct{}{}:
	default:
	}
}

// fail ends the simulation, unless it has failed already.
func (w *world) fail(check string, err error) {
	w.mu.Lock()
	if w.failed == nil {
		w.failed = &Failure{Seed: w.plan.seed, Check: check, After: w.elapsed(), Err: err}
	}
	w.mu.Unlock()
	w.stir()
}

func (w *world) failure() *Failure {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// later calls f after some time, unless the simulation ends before.
func (w *world) later(after time.Duration, f func()) {
	w.running.Go(func() {
		select {
		case <-time.After(after):
			f()
		case <-w.ctx.Done():
		}
	})
}

// longestEnd is how long a process may take to return when its context has ended.
const longestEnd = time.Hour

// await waits until run has returned for a life that has ended.
func (w *world) await(l *life) {
	select {
	case <-l.done:
	case <-time.After(longestEnd):
		// Nothing but a panic of testing/synctest can end such a bubble.
		_, _ = fmt.Fprintf(os.Stderr, "simulation: seed %d: process %s: it has not returned %v after its context ended:\n%s\n",
			w.plan.seed, l.process.name, longestEnd, bubbleStacks())
		<-l.done
	}
}

// run makes the plan happen.
func (w *world) run() {
	for _, p := range w.processes {
		p.start()
	}
	faults, acts := w.plan.faults, w.plan.acts
	for w.failure() == nil && (len(faults) > 0 || len(acts) > 0) {
		if len(acts) == 0 || len(faults) > 0 && faults[0].at <= acts[0].at {
			w.until(faults[0].at)
			w.apply(faults[0])
			faults = faults[1:]
		} else {
			w.until(acts[0].at)
			w.do(acts[0])
			acts = acts[1:]
		}
	}
	w.until(w.plan.length)
	w.calm()
	w.settle()
}

// until makes the checks whenever something happens, up to a moment.
func (w *world) until(at time.Duration) {
	timer := time.NewTimer(at - w.elapsed())
	defer timer.Stop()
	for w.failure() == nil {
		select {
		case <-w.stirred:
			w.check()
		case <-timer.C:
			select {
			case <-w.stirred: // at the very same instant
				w.check()
			default:
			}
			return
		}
	}
}

// do lets users act.
func (w *world) do(a act) {
	if w.failure() != nil {
		return
	}
	w.note("users", "act %d", a.number)
	random := w.random("act", fmt.Sprint(a.number))
	if err := contain(func() error { return w.sim.acts[a.which](w.ctx, &w.user, random) }); err != nil {
		w.fail("what users do", fmt.Errorf("act %d: %w", a.number, err))
	}
	w.stir()
}

// check calls what has to be so at any time, when all goroutines have come to rest.
func (w *world) check() {
	synctest.Wait()
	now := State{w}
	for _, c := range w.sim.always {
		if err := c.of(now); err != nil {
			w.fail(c.name, err)
			return
		}
	}
	for _, p := range w.processes {
		if l := p.present(); l != nil {
			for _, c := range l.checks() {
				if err := c.of(now); err != nil {
					w.fail(c.name+" ("+l.name()+")", err)
					return
				}
			}
		}
	}
}

// calm ends all faults.
func (w *world) calm() {
	w.mu.Lock()
	end := w.end
	w.end = nil
	w.mu.Unlock()
	for _, f := range end {
		f()
	}
	for _, p := range w.processes {
		p.disarm()
	}
	w.note("simulation", "all faults have ended")
}

// unmet returns the goals that are not reached yet, and why.
func (w *world) unmet() (goals []goal, why []error) {
	now := State{w}
	look := func(g goal) {
		if err := g.of(now); err != nil {
			goals, why = append(goals, g), append(why, err)
		}
	}
	for _, g := range w.sim.eventually {
		look(g)
	}
	for _, p := range w.processes {
		l := p.present()
		if l == nil {
			goals = append(goals, goal{check{name: "process " + p.name}, longestEnd})
			why = append(why, errors.New("process is down"))
			continue
		}
		for _, g := range l.aims() {
			look(g)
		}
	}
	return goals, why
}

// settle waits until all goals are reached. It looks when something has happened, and
// every ten seconds.
func (w *world) settle() {
	from := w.elapsed()
	for w.failure() == nil {
		synctest.Wait()
		goals, why := w.unmet()
		if len(goals) == 0 {
			return
		}
		for i, g := range goals {
			if w.elapsed()-from >= g.within {
				w.fail(g.name, fmt.Errorf("not so %v after the last fault: %w", g.within, why[i]))
				return
			}
		}
		w.until(w.elapsed() + 10*time.Second)
	}
}

// stop ends everything, and waits for it.
func (w *world) stop() error {
	w.stopping.Store(true)
	for _, p := range w.processes {
		if l := p.present(); l != nil {
			l.cancel()
			w.await(l)
			l.end()
		}
	}
	w.calm()
	w.cancel()
	w.carrying.Wait() // before what it may start: a crash starts the process again
	w.running.Wait()
	return w.servers[0].Close()
}
