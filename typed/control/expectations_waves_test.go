package control_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/internal/test/waves"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/control"
)

// hopes are Expectations of thousands of keys, with a list of the writes that each of them waits
// for.
type hopes struct {
	*testing.T
	*rand.Rand
	expect    *control.Expectations[string]
	call      func(context.Context, string) error
	timeout   time.Duration
	informers []*slow
	keys      map[string]*hope // those that expect something
	stats     control.ExpectationStats
	processed int // how often

	mu    sync.Mutex
	added map[string]int // guarded by mu; how often each key was
}

// slow is an informer that has seen the writes to its resource up to a version.
type slow struct {
	*rig.Rig
	there   map[string]*rig.Thing // what it has seen
	written map[string]*rig.Thing // what the server has
	version int                   // of the server
	seen    int                   // of the informer
	unseen  []change
}

// change is one that an informer has not seen: an object, or a deletion.
type change struct {
	object *rig.Thing
	gone   bool
}

// hope is what a key waits for.
type hope struct {
	versions map[*slow]int
	gone     []goner
	putOff   bool
	deadline time.Time
}

// goner is an object whose deletion is expected.
type goner struct {
	by     *slow
	object *rig.Thing
}

// AddWithOptions implements control.Adder.
func (w *hopes) AddWithOptions(key string, o queue.AddOptions) {
	assert.Zero(w, o)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.added[key]++
}

// TestExpectationsWaves: thousands of keys write at once to resources whose informers are late.
// Each waits until its informers have seen its writes, or until its timeout, and no longer; a key
// that was put off is added again once. Stats agrees with a list of everything, and nothing is left
// in the end.
func TestExpectationsWaves(t *testing.T) {
	waves.Run(t, 8, func(t *testing.T, seed uint64) {
		rig.InBubble(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 6))
			w := &hopes{T: t, Rand: r, timeout: time.Minute, keys: map[string]*hope{}, added: map[string]int{}}
			var err error
			w.expect, err = control.NewExpectations(w, control.WithExpectationTimeout(w.timeout))
			require.NoError(t, err)
			w.call = w.expect.Wrap(func(context.Context, string) error { w.processed++; return nil })
			for range 1 + r.IntN(3) {
				x := &slow{Rig: rig.New(t), there: map[string]*rig.Thing{}, written: map[string]*rig.Thing{}, version: 1, seen: 1}
				x.Start()
				sinktest.Replace(x.Sink, "", nil, "1")
				w.informers = append(w.informers, x)
			}
			synctest.Wait()
			keys := []int{1, 20, 3000}[r.IntN(3)]
			for range 30 + r.IntN(100) {
				w.step(keys)
				w.look()
			}
			for _, x := range w.informers {
				w.see(x, len(x.unseen))
			}
			w.look()
			assert.Zero(t, w.expect.Stats().Keys)
		})
	})
}

func (w *hopes) step(keys int) {
	n := []int{1, 3, 50, 2000}[w.IntN(4)]
	key := func() string { return strconv.Itoa(w.IntN(keys)) }
	x := w.informers[w.IntN(len(w.informers))]
	switch w.IntN(6) {
	case 0, 1:
		for range min(n, 3*keys) {
			w.write(key(), x)
		}
	case 2, 3:
		w.see(x, min(len(x.unseen), w.IntN(n+1)))
	case 4:
		for range min(n, 3*keys) {
			w.handOut(key())
		}
	default:
		w.pass(time.Duration(w.Int64N(int64(30 * time.Second))))
	}
}

// write creates, changes or deletes an object for a key.
func (w *hopes) write(key string, x *slow) {
	x.version++
	name := strconv.Itoa(w.IntN(5000))
	old := x.written[name]
	if old != nil && w.IntN(2) == 0 {
		last := *old
		last.Version = x.version
		delete(x.written, name)
		x.unseen = append(x.unseen, change{&last, true})
		require.NoError(w, w.expect.ExpectDeleted(key, x, old))
		w.hope(key).hopeGone(x, old)
		return
	}
	o := &rig.Thing{Namespace: "ns", Name: name, UID: types.UID(strconv.Itoa(x.version)), Version: x.version}
	if old != nil {
		o.UID = old.UID
	}
	x.written[name] = o
	x.unseen = append(x.unseen, change{object: o})
	require.NoError(w, w.expect.Expect(key, x, strconv.Itoa(x.version)))
	w.hope(key).versions[x] = x.version
}

// hope returns the writes that a key waits for, and restarts its timeout.
func (w *hopes) hope(key string) *hope {
	h := w.keys[key]
	if h == nil {
		h = &hope{versions: map[*slow]int{}}
		w.keys[key] = h
	}
	h.deadline = time.Now().Add(w.timeout)
	return h
}

// hopeGone notes that the deletion of an object is expected, of the latest version of it only.
func (h *hope) hopeGone(by *slow, o *rig.Thing) {
	h.gone = slices.DeleteFunc(h.gone, func(other goner) bool {
		return other.by == by && other.object.UID == o.UID
	})
	h.gone = append(h.gone, goner{by: by, object: o})
}

// see makes an informer see some changes.
func (w *hopes) see(x *slow, n int) {
	for _, c := range x.unseen[:n] {
		version := strconv.Itoa(c.object.Version)
		if x.seen = c.object.Version; c.gone {
			delete(x.there, c.object.Name)
			sinktest.Delete(x.Sink, c.object, version)
		} else {
			x.there[c.object.Name] = c.object
			sinktest.Put(x.Sink, c.object, version)
		}
	}
	x.unseen = x.unseen[n:]
	synctest.Wait()
	w.settle()
}

// settle removes expectations that were met, and keys that have none left.
func (w *hopes) settle() {
	for key, h := range w.keys {
		for x, version := range h.versions {
			if x.seen >= version {
				delete(h.versions, x)
			}
		}
		h.gone = slices.DeleteFunc(h.gone, func(g goner) bool {
			o := g.by.there[g.object.Name]
			return g.by.seen >= g.object.Version && (o == nil || o.UID != g.object.UID)
		})
		if len(h.versions)+len(h.gone) == 0 {
			w.drop(key, h)
		}
	}
}

// drop removes a key, which was added if it was put off.
func (w *hopes) drop(key string, h *hope) {
	delete(w.keys, key)
	w.mu.Lock()
	defer w.mu.Unlock()
	if h.putOff {
		w.added[key]--
	}
}

// handOut checks that a key is processed, or put off.
func (w *hopes) handOut(key string) {
	before, h := w.processed, w.keys[key]
	require.NoError(w, w.call(w.Context(), key))
	require.Equal(w, h == nil, w.processed > before, "key %s is processed", key)
	if h != nil {
		h.putOff = true
		w.stats.PutOff++
	}
}

// pass lets time pass.
func (w *hopes) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
	for key, h := range w.keys {
		if !time.Now().Before(h.deadline) {
			w.stats.Expired++
			w.drop(key, h)
		}
	}
}

// look compares what Stats says and who was added with the list.
func (w *hopes) look() {
	synctest.Wait()
	w.stats.Keys, w.stats.Waiting = len(w.keys), 0
	for _, h := range w.keys {
		if h.putOff {
			w.stats.Waiting++
		}
	}
	require.Equal(w, w.stats, w.expect.Stats())
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, n := range w.added {
		require.Zero(w, n, "how much more often than it should be key %s was added", key)
		delete(w.added, key)
	}
}
