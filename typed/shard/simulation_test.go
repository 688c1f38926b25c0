package shard

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

var (
	seeds    = flag.Int("shard.seeds", 40, "how many seeds the simulation of groups tries")
	fromSeed = flag.Uint64("shard.seed", 1, "the first of them")
)

// journal is what all members write to, as the outside world: it knows who is at work.
type journal struct {
	mu     sync.Mutex
	calls  [rangeCount]map[*work]struct{} // running
	fences [rangeCount]int                // the highest that was seen
	writes int
	wrong  []string

	// Until then two members may work on a range, as Leases were edited or lists are stale.
	excused time.Time
	excuses int // how often
}

// work is a call of a reconcile function.
type work struct {
	ctx    context.Context
	member *simulated
	r      uint8
}

func (j *journal) blame(format string, args ...any) { // with mu
	if time.Now().Before(j.excused) {
		j.excuses++
		return
	}
	j.wrong = append(j.wrong, fmt.Sprintf(format, args...))
}

func (j *journal) begin(w *work) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for other := range j.calls[w.r] {
		if other.member != w.member && other.ctx.Err() == nil && !other.member.isDead() {
			j.blame("%s begins with range %d while %s is at it", w.member.identity, w.r, other.member.identity)
		}
	}
	if j.calls[w.r] == nil {
		j.calls[w.r] = map[*work]struct{}{}
	}
	j.calls[w.r][w] = struct{}{}
}

func (j *journal) end(w *work) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.calls[w.r], w)
}

// write is a write of a call, which has asked right before whether it may.
func (j *journal) write(w *work) {
	j.mu.Lock()
	defer j.mu.Unlock()
	fence, _ := strconv.Atoi(w.member.generation(w.r))
	if w.ctx.Err() != nil || fence == 0 {
		return
	}
	j.writes++
	if fence < j.fences[w.r] {
		j.blame("%s writes for range %d with the generation %d, after %d", w.member.identity, w.r, fence, j.fences[w.r])
	}
	j.fences[w.r] = fence
}

// simulated is a process of a simulation.
type simulated struct {
	*Group
	client *leaseClient
	stop   func()
	all    sync.WaitGroup
	mayEnd bool // with an OptionsError
}

func (p *simulated) isDead() bool {
	p.client.mu.Lock()
	defer p.client.mu.Unlock()
	return p.client.dead
}

func (p *simulated) set(change func(c *leaseClient)) {
	p.client.mu.Lock()
	defer p.client.mu.Unlock()
	change(p.client)
}

// lister is a source of the group: it takes some time to list what comes.
func (p *simulated) lister(ctx context.Context, random *rand.Rand) {
	f, leave := p.follow()
	defer leave()
	for {
		select {
		case <-f.changed:
		case <-ctx.Done():
			return
		}
		kept, since := f.share()
		_ = sleep(ctx, time.Duration(random.IntN(3000))*time.Millisecond)
		f.loaded(kept, since)
	}
}

// worker works on ranges, one after the other.
func (p *simulated) worker(ctx context.Context, j *journal, random *rand.Rand) {
	for ctx.Err() == nil {
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		if p.client.gate() || ctx.Err() != nil {
			return
		}
		r := uint8(random.IntN(rangeCount))
		calling, done, v := p.begin(context.WithoutCancel(ctx), r)
		if v != run {
			continue
		}
		w := &work{calling, p, r}
		j.begin(w)
		stubborn := random.IntN(10) == 0
		for range random.IntN(4) {
			d := time.Duration(random.IntN(2000)) * time.Millisecond
			if stubborn {
				time.Sleep(d * 5)
			} else {
				_ = sleep(calling, d)
			}
			if p.client.gate() {
				break
			}
			j.write(w)
		}
		j.end(w)
		done()
	}
}

// world is one seed.
type world struct {
	t       *testing.T
	random  *rand.Rand
	store   *leaseStore
	journal journal
	alive   []*simulated
	dead    []*simulated
	names   int
	edited  bool // options were, in a Lease
	hands   bool // Leases are edited, and lists may be stale: see excuse
}

func (w *world) start(identity string, opts ...Option) *simulated {
	if identity == "" {
		w.names++
		identity = fmt.Sprintf("m%d", w.names)
	}
	c := &leaseClient{leaseStore: w.store, random: rand.New(rand.NewPCG(w.random.Uint64(), 1)), slow: 100 * time.Millisecond}
	g, err := newGroup(c, "ns", "group", append([]Option{WithIdentity(identity), WithDrainTimeout(4 * time.Second)}, opts...))
	require.NoError(w.t, err)
	w.drift(g, c)
	ctx, stop := context.WithCancel(context.Background())
	p := &simulated{Group: g, client: c, stop: stop, mayEnd: len(opts) > 0}
	p.all.Go(func() {
		err := g.Run(ctx)
		stop() // if it was refused
		var options *OptionsError
		assert.True(w.t, err == nil || p.mayEnd && errors.As(err, &options), "%v", err)
	})
	if random := rand.New(rand.NewPCG(w.random.Uint64(), 3)); random.IntN(4) > 0 {
		p.all.Go(func() { p.lister(ctx, random) })
	}
	for range 3 {
		random := rand.New(rand.NewPCG(w.random.Uint64(), 2))
		p.all.Go(func() { p.worker(ctx, &w.journal, random) })
	}
	if !p.mayEnd {
		w.alive = append(w.alive, p)
	}
	return p
}

// drift makes the clocks of a third of the members slow by a twentieth, and of another third
// fast by a fifteenth: they count that much more, or less, of the duration of others' Leases.
func (w *world) drift(g *Group, c *leaseClient) {
	switch w.random.IntN(3) {
	case 1:
		g.renewDeadline, g.retryPeriod = g.renewDeadline*21/20, g.retryPeriod*21/20
	case 2:
		g.renewDeadline, g.retryPeriod, c.seconds = g.renewDeadline*14/15, g.retryPeriod*14/15, 14
	}
}

// pick returns a random live process.
func (w *world) pick() *simulated { return w.alive[w.random.IntN(len(w.alive))] }

func (w *world) bury(p *simulated) {
	for i, q := range w.alive {
		if q == p {
			w.alive = append(w.alive[:i:i], w.alive[i+1:]...)
		}
	}
	w.dead = append(w.dead, p)
}

// kill ends a process by SIGKILL.
func (w *world) kill(p *simulated) {
	p.set(func(c *leaseClient) { c.dead = true })
	p.stop()
	w.bury(p)
}

func (w *world) leave(p *simulated) {
	p.stop()
	w.bury(p)
}

func (w *world) during(p *simulated, d time.Duration, begin, end func(c *leaseClient)) {
	p.set(begin)
	time.AfterFunc(d, func() { p.set(end) })
}

// strike has something happen.
func (w *world) strike() {
	p := w.pick()
	seconds := func(most int) time.Duration { return time.Duration(w.random.IntN(most*1000)) * time.Millisecond }
	if w.hands && w.random.IntN(2) == 0 {
		w.meddle(p)
		return
	}
	switch w.random.IntN(14) {
	case 0:
		w.kill(p)
		w.start("")
	case 1: // and is back at once, with its name
		w.kill(p)
		if w.hands { // whose Lease may be edited, as if it lived
			w.start("")
			return
		}
		w.start(p.identity)
	case 2: // two at once
		w.kill(p)
		if len(w.alive) > 0 {
			w.kill(w.pick())
		}
		w.start("")
		w.start("")
	case 3, 4:
		until := time.Now().Add(seconds(40))
		p.set(func(c *leaseClient) { c.paused = until })
	case 5:
		w.during(p, seconds(40), func(c *leaseClient) { c.cut = true }, func(c *leaseClient) { c.cut = false })
	case 6:
		w.during(p, seconds(30), func(c *leaseClient) { c.lossy = 60 }, func(c *leaseClient) { c.lossy = 0 })
	case 7:
		w.during(p, seconds(30), func(c *leaseClient) { c.slow = 3 * time.Second }, func(c *leaseClient) { c.slow = 100 * time.Millisecond })
	case 8: // a rolling restart
		for _, old := range append([]*simulated(nil), w.alive...) {
			w.start("")
			time.Sleep(seconds(8))
			w.leave(old)
		}
	case 9:
		if len(w.alive) > 3 {
			w.leave(p)
		} else {
			w.start("")
		}
	case 10: // the API server is away
		d := seconds(40)
		for _, p := range w.alive {
			w.during(p, d, func(c *leaseClient) { c.cut = true }, func(c *leaseClient) { c.cut = false })
		}
	case 11: // of a member that has joined, as others cannot
		if p.Status().Ranges > 0 {
			denied := apierrors.NewForbidden(leaseResource, "", errors.New("the right was taken away"))
			w.during(p, seconds(30), func(c *leaseClient) { c.deny = denied }, func(c *leaseClient) { c.deny = nil })
		}
	case 12: // one with other options, which is refused while the others live
		time.Sleep(85 * time.Second)
		w.dead = append(w.dead, w.start("", WithHash(Key())))
		time.Sleep(20 * time.Second)
	case 13: // a suspended machine: its monotonic clock stands still
		d := seconds(40)
		until := time.Now().Add(d)
		p.set(func(c *leaseClient) { c.paused = until })
		p.mu.Lock()
		p.valid = p.valid.Add(d)
		p.mu.Unlock()
	}
}

// excuse notes that what is done to Leases for some time may give a range two owners: until the
// one that does not know of it has to stop, as it has not renewed its Lease since.
func (w *world) excuse(p *simulated, d time.Duration) {
	w.journal.mu.Lock()
	defer w.journal.mu.Unlock()
	if until := time.Now().Add(d + p.renewDeadline*21/20); until.After(w.journal.excused) {
		w.journal.excused = until
	}
}

// meddle edits the Lease of a member, or makes lists stale.
func (w *world) meddle(p *simulated) {
	name := p.leaseName()
	edit := func(change func(l *coordinationv1.Lease)) {
		w.store.mu.Lock()
		defer w.store.mu.Unlock()
		if l := w.store.leases[name]; l != nil {
			l = l.DeepCopy()
			change(l)
			w.store.stored(l)
		}
	}
	note := func(key, value string) {
		edit(func(l *coordinationv1.Lease) {
			l.Annotations = map[string]string{processAnnotation: l.Annotations[processAnnotation], holdsAnnotation: l.Annotations[holdsAnnotation], key: value}
		})
	}
	kind := w.random.IntN(10)
	if loses := [10]bool{0: true, 1: true, 3: true, 4: true, 8: true}; loses[kind] {
		w.excuse(p, 0)
	}
	switch kind {
	case 0:
		w.store.mu.Lock()
		delete(w.store.leases, name)
		w.store.mu.Unlock()
	case 1:
		edit(func(l *coordinationv1.Lease) { l.Labels = nil })
	case 2:
		note(holdsAnnotation, everything.String())
	case 3:
		note(holdsAnnotation, "garbage")
	case 4:
		note(holdsAnnotation, ranges{}.String())
	case 5: // once, since members end if they see it twice
		if !w.edited {
			note(optionsAnnotation, "others")
		}
		w.edited = true
	case 6:
		note(leavingAnnotation, "true")
	case 7:
		note(listedAnnotation, everything.String())
	case 8:
		edit(func(l *coordinationv1.Lease) { l.Annotations, l.Spec = nil, coordinationv1.LeaseSpec{} })
	case 9:
		stale, d := w.store.now(), time.Duration(w.random.IntN(20000))*time.Millisecond
		w.excuse(p, d)
		w.during(p, d, func(c *leaseClient) { c.stale = stale }, func(c *leaseClient) { c.stale = nil })
	}
}

func (w *world) run() {
	for range 1 + w.random.IntN(6) {
		w.start("")
	}
	for i := range 12 {
		time.Sleep(time.Duration(w.random.IntN(15000)) * time.Millisecond)
		w.strike()
		if i%4 == 3 {
			// The longest fault, then three lease durations: see Group.Run.
			time.Sleep(40*time.Second + 45*time.Second)
			w.checkOwners()
		}
	}
	for _, p := range w.alive {
		p.stop()
	}
	for _, p := range append(w.alive, w.dead...) {
		p.all.Wait()
	}
	time.Sleep(time.Minute) // for requests that are late
	w.journal.mu.Lock()
	defer w.journal.mu.Unlock()
	assert.Empty(w.t, w.journal.wrong)
	assert.Greater(w.t, w.journal.writes, 100)
}

// checkOwners checks that all ranges have one owner again, in equal shares.
func (w *world) checkOwners() {
	var all ranges
	sizes := []int{}
	for _, p := range w.alive {
		p.mu.Lock()
		active := p.active
		assert.True(w.t, p.isValid(time.Now()), p.identity)
		p.mu.Unlock()
		assert.True(w.t, all.and(active).empty())
		all = all.or(active)
		sizes = append(sizes, active.count())
	}
	assert.Equal(w.t, everything, all, "ranges have no owner; sizes %v", sizes)
	for _, n := range sizes {
		assert.InDelta(w.t, float64(rangeCount)/float64(len(sizes)), float64(n), 1)
	}
}

// TestSimulation: whatever happens to members and their network, no two of them work on one
// range at a time, generations never go back, and all ranges have owners in the end. In every
// fourth seed Leases are edited as well, which excuses what comes of it within seconds.
func TestSimulation(t *testing.T) {
	begin, virtual, writes, requests, excuses := time.Now(), time.Duration(0), 0, 0, 0
	for seed := *fromSeed; seed < *fromSeed+uint64(*seeds) && !t.Failed(); seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{t: t, random: rand.New(rand.NewPCG(seed, 0)), store: newLeaseStore(), hands: seed%4 == 0}
				start := time.Now()
				w.run()
				writes += w.journal.writes
				excuses += w.journal.excuses
				virtual += time.Since(start)
				for _, n := range w.store.requests {
					requests += n
				}
			})
		})
	}
	t.Logf("%d seeds, %d requests for Leases, %d writes, %.1f virtual hours, %.0f seeds a minute; %d times two members at a range, within seconds of an edited Lease",
		*seeds, requests, writes, virtual.Hours(), float64(*seeds)/time.Since(begin).Minutes(), excuses)
}
