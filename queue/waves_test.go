package queue

import (
	"cmp"
	lists "container/list"
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/waves"
)

// TestWorkQueueWaves runs random programs of thousands of keys that come in waves, are delayed,
// moved forward, handed out and gone, in virtual time, against a model of the queue's rules. It is
// TestWorkQueueModel at sizes where memory is given back.
func TestWorkQueueWaves(t *testing.T) {
	waves.Run(t, 12, func(t *testing.T, seed uint64) {
		synctest.Test(t, func(t *testing.T) { runWaves(t, seed) })
	})
}

// wave is a key as the model has it.
type wave struct {
	key, priority, next, late int
	tenant                    int
	place                     *lists.Element // in its line, nil if it does not wait
	working, dirty            bool
	due                       time.Duration // 0: it is not delayed
	nth                       int           // of its delay
}

// sea is the model of a queue.
type sea struct {
	joined   bool
	tenants  int
	ageing   int
	began    time.Time
	keys     map[int]*wave
	delayed  map[int]*wave
	working  []*wave
	lines    []*waveLine // of priorities, the one that has gone without a turn for longest first
	waiting  int
	dirty    int
	turns    int
	nth      int
	retries  uint64
	shutDown bool
}

// waveLine is what waits with one priority.
type waveLine struct {
	priority, turn int
	tenants        lists.List // of *waveTenant, the one whose turn is next first
}

type waveTenant struct {
	name int
	keys lists.List // of *wave
}

func (s *sea) now() time.Duration { return time.Since(s.began) }

func (s *sea) push(w *wave) {
	i := slices.IndexFunc(s.lines, func(l *waveLine) bool { return l.priority == w.priority })
	if i < 0 {
		i = len(s.lines)
		s.lines = append(s.lines, &waveLine{priority: w.priority, turn: s.turns})
	}
	l := s.lines[i]
	for e := l.tenants.Front(); e != nil; e = e.Next() {
		if t := e.Value.(*waveTenant); t.name == w.tenant {
			w.place = t.keys.PushBack(w)
			s.waiting++
			return
		}
	}
	t := l.tenants.PushBack(&waveTenant{name: w.tenant}).Value.(*waveTenant)
	w.place = t.keys.PushBack(w)
	s.waiting++
}

func (s *sea) leave(w *wave) {
	i := slices.IndexFunc(s.lines, func(l *waveLine) bool { return l.priority == w.priority })
	l := s.lines[i]
	for e := l.tenants.Front(); e != nil; e = e.Next() {
		if t := e.Value.(*waveTenant); t.name == w.tenant {
			if t.keys.Remove(w.place); t.keys.Len() == 0 {
				l.tenants.Remove(e)
			}
			break
		}
	}
	if l.tenants.Len() == 0 {
		s.lines = slices.Delete(s.lines, i, i+1)
	}
	w.place = nil
	s.waiting--
}

func (s *sea) pop() *wave {
	i := 0
	if s.turns-s.lines[0].turn < s.ageing {
		for j, l := range s.lines {
			if l.priority > s.lines[i].priority {
				i = j
			}
		}
	}
	l := s.lines[i]
	s.turns++
	l.turn = s.turns
	s.lines = append(slices.Delete(s.lines, i, i+1), l)
	front := l.tenants.Front()
	w := front.Value.(*waveTenant).keys.Front().Value.(*wave)
	l.tenants.MoveToBack(front)
	s.leave(w)
	w.working = true
	s.working = append(s.working, w)
	return w
}

func (s *sea) add(key, priority int, after time.Duration, retry, keep bool) {
	if s.shutDown {
		return
	}
	w := s.keys[key]
	if w == nil {
		w = &wave{key: key, tenant: key % s.tenants}
		s.keys[key] = w
	}
	if retry {
		s.retries++
	}
	if keep && w.working {
		priority = w.priority
	}
	if after <= 0 || s.joined && (w.place != nil || w.dirty) {
		s.enqueue(w, priority)
		return
	}
	due := s.now() + after
	switch {
	case w.due == 0:
		w.late = priority
		s.delayed[key] = w
	default:
		if w.late = max(w.late, priority); w.due <= due {
			return
		}
	}
	s.nth++
	w.due, w.nth = due, s.nth
}

func (s *sea) enqueue(w *wave, priority int) {
	if s.joined && w.due != 0 {
		priority = max(priority, w.late)
		s.endDelay(w)
	}
	switch {
	case w.place != nil && priority > w.priority:
		s.leave(w)
		w.priority = priority
		s.push(w)
	case w.place != nil:
	case w.dirty:
		w.next = max(w.next, priority)
	case w.working:
		w.dirty, w.next = true, priority
		s.dirty++
	default:
		w.priority = priority
		s.push(w)
	}
}

func (s *sea) endDelay(w *wave) {
	w.due = 0
	delete(s.delayed, w.key)
}

func (s *sea) comeDue() {
	var due []*wave
	for _, w := range s.delayed {
		if w.due <= s.now() {
			due = append(due, w)
		}
	}
	slices.SortFunc(due, func(a, b *wave) int { return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.nth, b.nth)) })
	for _, w := range due {
		s.endDelay(w)
		s.enqueue(w, w.late)
	}
}

func (s *sea) done(i int) *wave {
	w := s.working[i]
	s.working[i] = s.working[len(s.working)-1]
	s.working = s.working[:len(s.working)-1]
	w.working = false
	switch {
	case w.dirty:
		w.dirty = false
		s.dirty--
		w.priority = w.next
		s.push(w)
	case w.place == nil && w.due == 0:
		delete(s.keys, w.key)
	}
	return w
}

func runWaves(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 9))
	size := []int{3, 100, 1000, 1500, 4000, 9000}[r.IntN(6)]
	s := &sea{
		joined: r.IntN(2) == 0, tenants: 1, ageing: 1 + r.IntN(20), began: time.Now(),
		keys: map[int]*wave{}, delayed: map[int]*wave{},
	}
	opts := []Option{WithName("waves"), WithAgeing(s.ageing)}
	if s.joined {
		opts = append(opts, WithJoinedDelays())
	}
	if r.IntN(3) == 0 {
		s.tenants = 1 + r.IntN(30)
		opts = append(opts, WithFairness(func(key int) string { return strconv.Itoa(key % s.tenants) }))
	}
	if r.IntN(3) == 0 {
		opts = append(opts, WithMetrics(discard{}))
	}
	q := makeQueue[int](t, opts...)
	c := &waveCheck{T: t, r: r, q: q, s: s, size: size, seed: seed}
	for range 30 + r.IntN(40) {
		c.step()
		c.look()
	}
	if r.IntN(2) == 0 {
		q.ShutDown()
		s.shutDown = true
		for _, w := range s.delayed {
			if s.endDelay(w); w.place == nil && !w.working {
				delete(s.keys, w.key)
			}
		}
	} else {
		time.Sleep(2 * time.Hour)
	}
	c.look()
	for s.waiting+len(s.working) > 0 {
		c.work(s.waiting, 0)
	}
	c.look()
	time.Sleep(5 * time.Minute) // the goroutine ends by itself, or the bubble does not
	require.LessOrEqual(t, known(q), kept, "seed %d", seed)
	c.check()
	q.ShutDown()
	require.Zero(t, known(q))
}

// waveCheck runs one program.
type waveCheck struct {
	*testing.T
	r    *rand.Rand
	q    *WorkQueue[int]
	s    *sea
	size int
	seed uint64
}

func (c *waveCheck) delay() time.Duration {
	d := []time.Duration{0, 1, time.Second, time.Minute, time.Hour}[c.r.IntN(5)]
	return time.Duration(c.r.Int64N(int64(d) + 1))
}

// step does something with a part of the keys.
func (c *waveCheck) step() {
	r, q, s := c.r, c.q, c.s
	n, from, stride := 1+r.IntN(c.size), r.IntN(c.size), 1+r.IntN(c.size)
	what, same, priority := r.IntN(9), c.delay(), []int{0, 1, 7, LowPriority}[r.IntN(4)]
	left := what < 5 && r.IntN(4) == 0 // the adds are left to who holds the lock
	if left {
		q.mu.Lock()
	}
	for i := range n {
		key := (from + i*stride) % c.size
		switch what {
		case 0, 1:
			q.Add(key)
			s.add(key, 0, 0, false, false)
		case 2:
			q.AddAfter(key, same)
			s.add(key, 0, same, true, true)
		case 3:
			d := c.delay()
			q.AddAfter(key, d)
			s.add(key, 0, d, true, true)
		case 4:
			q.AddWithOptions(key, AddOptions{Priority: priority, After: same})
			s.add(key, priority, same, same > 0, false)
		}
	}
	if left {
		q.unlock()
	}
	switch what {
	case 5:
		c.look()
		c.work(n, r.IntN(3))
	case 6:
		c.look()
		c.work(s.waiting, r.IntN(3))
	case 7, 8:
		time.Sleep([]time.Duration{1, time.Second, 31 * time.Second, 2 * time.Minute, time.Hour}[r.IntN(5)])
	}
}

// work has n keys handed out, and all but a few that are in work done.
func (c *waveCheck) work(n, keep int) {
	for range min(n, c.s.waiting) {
		want := c.s.pop()
		key, priority, err := c.q.GetWithPriority(context.Background())
		require.NoError(c, err)
		require.Equal(c, [2]int{want.key, want.priority}, [2]int{key, priority}, "seed %d", c.seed)
	}
	for len(c.s.working) > keep {
		c.q.Done(c.s.done(c.r.IntN(len(c.s.working))).key)
	}
}

// look compares what the queue says with the model.
func (c *waveCheck) look() {
	synctest.Wait()
	q, s := c.q, c.s
	s.comeDue()
	got := q.Stats()
	got.OldestAge = 0
	require.Equal(c, Stats{
		Waiting: s.waiting, InFlight: len(s.working), Dirty: s.dirty, Delayed: len(s.delayed), Retries: s.retries,
	}, got, "seed %d", c.seed)
	for range 10 {
		key := c.r.IntN(c.size)
		state, w := q.KeyState(key), s.keys[key]
		if w == nil {
			w = &wave{}
		}
		want := []bool{w.place != nil, w.working, w.dirty, w.due != 0}
		require.Equal(c, want, []bool{
			!state.Waiting.IsZero(), !state.InWork.IsZero(), state.Dirty, !state.DelayedUntil.IsZero(),
		}, "seed %d, key %d", c.seed, key)
		if w.due != 0 {
			require.Equal(c, s.began.Add(w.due), state.DelayedUntil, "seed %d, key %d", c.seed, key)
		}
	}
	c.check()
}

// check checks the invariants of the queue.
func (c *waveCheck) check() {
	q := c.q
	q.mu.Lock()
	defer q.unlock()
	resting := 0
	for n := q.keys.resting.First; n != nil; n = n.Next {
		require.Zero(c, n.Of.state, "seed %d", c.seed)
		require.Same(c, n.Of, q.entryOf(n.Of.key), "seed %d", c.seed)
		resting++
	}
	require.Equal(c, resting, q.keys.rest)
	require.Equal(c, len(c.s.keys), q.keys.by.Len()-resting, "seed %d", c.seed)
	for key, w := range c.s.keys {
		require.Equal(c, w.due != 0, q.entryOf(key).inState(delayed), "seed %d", c.seed)
	}
}
