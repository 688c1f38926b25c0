package typed_test

import (
	"maps"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/internal/test/waves"
	"github.com/kubetyped/informer/typed"
)

// thingsByKey is a state of the store.
type thingsByKey map[index.Key]*rig.Thing

// surf is an informer whose objects come and go by thousands, with handlers that coalesce.
type surf struct {
	*rig.Rig
	*rand.Rand
	names, areas int
	version      int
	state        thingsByKey // as reported to the sink
	known        []index.Key // those of state, and some that are gone
	handlers     []*slacker
}

// slacker is a slow handler, and the events it received.
type slacker struct {
	*testing.T
	*typed.Registration
	store    *typed.Informer[*rig.Thing]
	pace     time.Duration
	periodic bool // it resyncs every hour

	mu      sync.Mutex
	rand    *rand.Rand        // guarded by mu
	told    thingsByKey       // guarded by mu; what it knows to be there
	latest  map[index.Key]int // guarded by mu; the latest version received
	calls   map[index.Key]int // guarded by mu; the number of the last call for a key
	number  int               // guarded by mu; of calls
	resyncs []askedResync     // guarded by mu
}

// askedResync is one that was asked for.
type askedResync struct {
	after int // calls
	state thingsByKey
}

// TestCoalesceWaves: objects come, change and go by thousands, one by one, in lists and in lists of
// a namespace, faster than the handlers work, which coalesce, join late, are closed, and request
// resyncs. Each call continues from the state of the handler's last call, and never goes back. The
// backlog is at most the number of keys. A function given to After runs when everything before it
// has been delivered. In the end each handler knows the objects of the store.
func TestCoalesceWaves(t *testing.T) {
	waves.Run(t, 3, func(t *testing.T, seed uint64) {
		rig.InBubble(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 4))
			w := &surf{Rig: rig.New(t), Rand: r, names: []int{3, 60, 1500, 6000}[r.IntN(4)], areas: 1 + r.IntN(5), state: thingsByKey{}}
			w.handle()
			w.Start()
			w.list(nil, 0, w.IntN(w.names))
			for range 20 + r.IntN(60) {
				w.step()
			}
			time.Sleep(24 * time.Hour)
			w.look()
		})
	})
}

// handle adds a handler.
func (w *surf) handle() {
	s := &slacker{
		T: w.T, store: w.Informer, told: thingsByKey{}, latest: map[index.Key]int{}, calls: map[index.Key]int{},
		rand: rand.New(rand.NewPCG(w.Uint64(), 0)), pace: time.Duration(w.IntN(4)) * time.Millisecond,
	}
	opts := []typed.HandlerOption{typed.WithDelivery(typed.Coalesce())}
	if w.IntN(3) == 0 {
		s.periodic = true
		opts = append(opts, typed.WithResync(time.Hour+time.Duration(w.Int64N(int64(time.Minute)))))
	}
	reg, err := w.Handle(s, opts...)
	require.NoError(w.T, err)
	s.Registration = reg
	w.handlers = append(w.handlers, s)
}

func (w *surf) step() {
	n := []int{1, 1, 7, 100, 1000, 5000}[w.IntN(6)]
	switch w.IntN(12) {
	case 0, 1:
		w.change(min(n, 4*w.names), 5)
	case 2:
		w.change(min(n, 4*w.names), 90)
	case 3, 4:
		w.change(min(n, 4*w.names), 40)
	case 5:
		w.list(nil, w.IntN(101), w.IntN(w.names)*w.IntN(2))
	case 6:
		w.list(&w.key().Namespace, w.IntN(101), w.IntN(w.names))
	case 7:
		if len(w.handlers) < 4 {
			w.handle()
		} else {
			w.handlers[0].Close()
			w.handlers = w.handlers[1:]
		}
	case 8:
		w.ask()
	default:
		time.Sleep(time.Duration(w.IntN(int([]time.Duration{time.Millisecond, time.Second, time.Hour}[w.IntN(3)]))))
	}
	if w.IntN(4) == 0 {
		synctest.Wait()
		for _, s := range w.handlers {
			assert.LessOrEqual(w.T, s.Backlog(), w.names+1, "more waits than there are keys")
		}
	}
}

func (w *surf) key() *index.Key {
	n := w.IntN(w.names)
	return &index.Key{Namespace: "ns" + strconv.Itoa(n%w.areas), Name: "n" + strconv.Itoa(n)}
}

// thing returns a new version of an object.
func (w *surf) thing(k index.Key) *rig.Thing {
	w.version++
	return &rig.Thing{Namespace: k.Namespace, Name: k.Name, UID: "uid", Version: w.version}
}

// change reports n changes, so many of a hundred of them deletions.
func (w *surf) change(n, deletions int) {
	for range n {
		k := w.key()
		if len(w.known) > 0 && w.IntN(2) == 0 {
			k = &w.known[w.IntN(len(w.known))]
		}
		o := w.thing(*k)
		version := strconv.Itoa(w.version)
		switch {
		case w.IntN(100) >= deletions:
			if w.state[*k] == nil {
				w.known = append(w.known, *k)
			}
			w.state[*k] = o
			sinktest.Put(w.Sink, o, version)
		case w.IntN(2) == 0:
			delete(w.state, *k)
			sinktest.Delete(w.Sink, o, version)
		default:
			delete(w.state, *k)
			sinktest.Remove(w.Sink, *k, index.Watched, version)
		}
	}
}

// list reports a list, of a namespace unless that is nil, in which so many of a hundred
// objects have stayed.
func (w *surf) list(namespace *string, kept, fresh int) {
	listed := thingsByKey{}
	for k, o := range w.state {
		if namespace != nil && k.Namespace != *namespace {
			continue
		}
		if delete(w.state, k); w.IntN(100) < kept {
			if w.IntN(2) == 0 {
				o = w.thing(k)
			}
			listed[k] = o
		}
	}
	for range fresh {
		if k := w.key(); namespace == nil || k.Namespace == *namespace {
			listed[*k] = w.thing(*k)
		}
	}
	list := make([]*rig.Thing, 0, len(listed))
	for _, o := range listed {
		list = append(list, o)
	}
	maps.Copy(w.state, listed)
	w.known = w.known[:0]
	for k := range w.state {
		w.known = append(w.known, k)
	}
	w.version++
	if namespace == nil {
		sinktest.Replace(w.Sink, "", list, strconv.Itoa(w.version))
	} else {
		sinktest.Replace(w.Sink, *namespace, list, strconv.Itoa(w.version))
	}
}

// ask calls After of a handler, to check that it has received everything up to now, or requests a
// resync of it.
func (w *surf) ask() {
	if len(w.handlers) == 0 {
		return
	}
	s := w.handlers[w.IntN(len(w.handlers))]
	synctest.Wait()
	now := maps.Clone(w.state)
	if w.IntN(2) == 0 {
		s.mu.Lock()
		s.resyncs = append(s.resyncs, askedResync{s.number, now})
		s.mu.Unlock()
		s.Resync()
		return
	}
	s.After(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for k, o := range now {
			if there, _ := s.store.Get(k); there == o && s.latest[k] < o.Version {
				assert.Fail(s, "after came too early", "%v, told of version %d", o, s.latest[k])
				return
			}
		}
	})
}

// call notes a call, and the new state of its key: nil if that is gone.
func (s *slacker) call(k index.Key, old, now *rig.Thing, version int) {
	s.mu.Lock()
	if before := s.told[k]; before != old {
		assert.Fail(s, "a call does not go on from the one before", "%v: from %v to %v, but the handler knows of %v", k, old, now, before)
	}
	if version < s.latest[k] {
		assert.Fail(s, "a call goes back", "%v: to %v after version %d", k, now, s.latest[k])
	}
	s.latest[k] = version
	s.number++
	s.calls[k] = s.number
	if now == nil {
		delete(s.told, k)
	} else {
		s.told[k] = now
		if got, ok := s.store.Get(k); ok && got.Version < now.Version {
			assert.Fail(s, "the store is behind", "it has %v, the handler is told of %v", got, now)
		}
	}
	pause := time.Duration(s.rand.IntN(2)) * s.pace
	s.mu.Unlock()
	time.Sleep(pause)
}

// OnAdd implements typed.Handler.
func (s *slacker) OnAdd(o *rig.Thing, _ bool) { s.call(index.KeyOf(o), nil, o, o.Version) }

// OnUpdate implements typed.Handler.
func (s *slacker) OnUpdate(old, o *rig.Thing) { s.call(index.KeyOf(o), old, o, o.Version) }

// OnDelete implements typed.Handler.
func (s *slacker) OnDelete(d typed.Deleted[*rig.Thing]) {
	if d.Old == nil {
		assert.Fail(s, "a deletion of what was never there", "%v", d.Key)
	}
	s.call(d.Key, d.Old, nil, d.Object.Version)
}

// look compares the final state of each handler with the reported objects.
func (w *surf) look() {
	synctest.Wait()
	for _, s := range w.handlers {
		s.mu.Lock()
		if !s.periodic { // or it may be in the middle of a resync
			assert.Zero(w.T, s.Backlog())
		}
		assert.True(w.T, maps.Equal(w.state, s.told), "a handler knows of %d objects, there are %d, or others", len(s.told), len(w.state))
		for _, r := range s.resyncs {
			for k, o := range r.state {
				if s.calls[k] <= r.after && w.state[k] == o {
					assert.Fail(w.T, "a resync leaves out an object", "%v", o)
					break
				}
			}
		}
		s.mu.Unlock()
	}
}
