package control_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/control"
)

// TestExpectationsModel runs controllers that write to two resources, whose
// informers learn of it late, sometimes later than the timeout, or by a relist.
//
//  1. A key is never processed while an informer has not seen what was written
//     for it, unless the time for that is over.
//  2. A key for which everything was seen is processed as soon as it is added.
//  3. Each add of a key is followed by processing it.
//  4. In the end nothing is expected, and nothing waits at the informers.
func TestExpectationsModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		keys := rapid.IntRange(1, 6).Draw(rt, "keys")
		lag := time.Duration(rapid.IntRange(0, 20).Draw(rt, "lag")) * time.Second
		adds := rapid.IntRange(1, 100).Draw(rt, "adds")
		var found rig.Complaints
		synctest.Test(t, func(t *testing.T) { newExpectingWorld(t, &found, seed, keys, lag).run(adds) })
		require.Empty(rt, found.List)
	})
}

const modelTimeout = time.Minute

// expectingWorld is a controller with its resources.
type expectingWorld struct {
	*rig.Complaints
	resources []*modelResource
	queue     *queue.WorkQueue[string]
	expect    *control.Expectations[string]

	mu   sync.Mutex
	rand *rand.Rand
	keys map[string]*modelKey // all that there are: the map does not change
	done bool                 // nothing is written any more
}

// modelKey is what is known of a key.
type modelKey struct {
	added, processed int // how often it was added, and how many of these it was processed after
	running          bool
	writes           []modelWrite
}

// modelWrite is a write for a key that has succeeded.
type modelWrite struct {
	at      time.Time
	to      *modelResource
	version int        // of the written object, or the last one on the server before its deletion
	deleted *rig.Thing // nil: it was created or changed
}

// isSeen reports whether the informer has seen it.
func (m *modelWrite) isSeen() bool {
	at, err := strconv.Atoi(m.to.ResourceVersion())
	if err != nil || at < m.version {
		return false
	}
	if m.deleted == nil {
		return true
	}
	o, ok := m.to.Get(index.KeyOf(m.deleted))
	return !ok || o.UID != m.deleted.UID || o.Deleted != nil
}

// isSeen reports whether the informers have seen all writes for a key, except those older than
// given.
func (k *modelKey) isSeen(within time.Duration) bool {
	return !slices.ContainsFunc(k.writes, func(m modelWrite) bool {
		return !m.isSeen() && time.Since(m.at) < within
	})
}

// modelResource is a resource of a server, and an informer of it.
type modelResource struct {
	*rig.Rig
	seen    *watchful // the same informer
	version int
	objects map[string]*rig.Thing
	unseen  []func() // what is to be reported to the informer
	wake    chan struct{}
}

func newExpectingWorld(t *testing.T, found *rig.Complaints, seed uint64, keys int, lag time.Duration) *expectingWorld {
	w := &expectingWorld{Complaints: found, rand: rand.New(rand.NewPCG(seed, 0)), keys: map[string]*modelKey{}}
	for n := range keys {
		w.keys[strconv.Itoa(n)] = &modelKey{}
	}
	var err error
	w.queue, err = queue.NewWorkQueue[string]()
	require.NoError(t, err)
	w.expect, err = control.NewExpectations(w.queue, control.WithExpectationTimeout(modelTimeout))
	require.NoError(t, err)
	for i := range 2 {
		r := &modelResource{Rig: rig.New(t), version: 1 + 1000*i, objects: map[string]*rig.Thing{}, wake: make(chan struct{}, 1)}
		r.seen = &watchful{Observer: r}
		_, err := r.Handle(control.EnqueueFunc(w.queue, func(o *rig.Thing) iter.Seq[string] {
			return func(yield func(string) bool) {
				if w.keys[o.Node] != nil {
					yield(o.Node)
				}
			}
		}))
		require.NoError(t, err)
		r.Start()
		sinktest.Replace(r.Sink, "", nil, strconv.Itoa(r.version))
		w.resources = append(w.resources, r)
		go w.deliver(r, lag)
	}
	return w
}

// deliver reports what happens to a resource to its informer, late.
func (w *expectingWorld) deliver(r *modelResource, lag time.Duration) {
	for range r.wake {
		w.mu.Lock()
		for len(r.unseen) > 0 {
			delay := time.Duration(w.rand.Int64N(int64(lag) + 1))
			if w.rand.IntN(50) == 0 {
				delay += modelTimeout
			}
			w.mu.Unlock()
			time.Sleep(delay)
			w.mu.Lock()
			if w.rand.IntN(10) == 0 { // the watch was interrupted
				objects := slices.Collect(valuesOf(r.objects))
				r.unseen = nil
				sinktest.Replace(r.Sink, "", objects, strconv.Itoa(r.version))
			} else {
				r.unseen[0]()
				r.unseen = r.unseen[1:]
			}
		}
		w.mu.Unlock()
	}
}

func valuesOf(objects map[string]*rig.Thing) iter.Seq[*rig.Thing] {
	return func(yield func(*rig.Thing) bool) {
		for _, o := range objects {
			if !yield(o) {
				return
			}
		}
	}
}

// report has something reported some time. The caller holds mu.
func (r *modelResource) report(what func()) {
	r.unseen = append(r.unseen, what)
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// put creates or changes an object. The caller holds mu.
func (r *modelResource) put(o rig.Thing) *rig.Thing {
	r.version++
	o.Version = r.version
	r.objects[o.Name] = &o
	r.report(func() { sinktest.Put(r.Sink, &o, strconv.Itoa(o.Version)) })
	return &o
}

// remove deletes an object. The caller holds mu.
func (r *modelResource) remove(name string) {
	o, ok := r.objects[name]
	if !ok {
		return
	}
	delete(r.objects, name)
	r.version++
	last := *o
	last.Version = r.version
	r.report(func() { sinktest.Delete(r.Sink, &last, strconv.Itoa(last.Version)) })
}

// process is what the controller does with a key.
func (w *expectingWorld) process(_ context.Context, key string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.keys[key]
	assert.False(w, k.running)
	assert.True(w, k.isSeen(modelTimeout), "key %s is processed too early", key)
	k.writes = nil
	k.running, k.processed = true, k.added
	defer func() { k.running = false }()
	for range w.rand.IntN(4) {
		if w.done {
			break
		}
		if w.rand.IntN(3) == 0 {
			pause := time.Duration(w.rand.IntN(3)) * time.Second
			w.mu.Unlock()
			time.Sleep(pause)
			w.mu.Lock()
		}
		w.write(key, k)
	}
	if !w.done && w.rand.IntN(8) == 0 {
		return errors.New("failure")
	}
	return nil
}

// write creates, changes or deletes an object for a key, or fails to. The caller
// holds mu.
func (w *expectingWorld) write(key string, k *modelKey) {
	r := w.resources[w.rand.IntN(len(w.resources))]
	name := fmt.Sprintf("%s-%d", key, w.rand.IntN(4))
	o, exists := r.objects[name]
	var deleted *rig.Thing
	switch action := w.rand.IntN(4); {
	case action == 0:
		return // the write has failed, and expects nothing
	case !exists:
		o = r.put(rig.Thing{Namespace: "ns", Name: name, Node: key, UID: types.UID(fmt.Sprint("uid-", r.version))})
	case action == 1:
		o = r.put(*o)
	case action == 2: // an object with a finalizer
		marked := *o
		marked.Deleted = &metav1.Time{}
		r.put(marked)
		deleted = o
	default:
		r.remove(name)
		deleted = o
	}
	write := modelWrite{at: time.Now(), to: r, version: o.Version, deleted: deleted}
	if deleted != nil {
		assert.NoError(w, w.expect.ExpectDeleted(key, r.seen, deleted))
	} else {
		assert.NoError(w, w.expect.Expect(key, r.seen, strconv.Itoa(o.Version)))
	}
	k.writes = append(k.writes, write)
}

// run adds keys, as many as are given.
func (w *expectingWorld) run(adds int) {
	synctest.Wait() // the informers have a list
	ran := make(chan error)
	go func() { ran <- w.queue.Run(context.Background(), len(w.keys), w.expect.Wrap(w.process)) }()
	for range adds {
		w.mu.Lock()
		key := strconv.Itoa(w.rand.IntN(len(w.keys)))
		k := w.keys[key]
		pause := time.Duration(w.rand.IntN(3000)) * time.Millisecond
		free := !k.running && k.isSeen(math.MaxInt64)
		k.added++
		w.mu.Unlock()
		w.queue.Add(key)
		synctest.Wait()
		w.mu.Lock()
		if free {
			assert.Equal(w, k.added, k.processed, "nothing was expected for key %s: %+v %+v", key, w.expect.Stats(), w.queue.Stats())
		}
		w.mu.Unlock()
		time.Sleep(pause)
	}
	w.mu.Lock()
	w.done = true
	w.mu.Unlock()
	time.Sleep(24 * time.Hour)
	synctest.Wait()
	for key, k := range w.keys {
		assert.Equal(w, k.added, k.processed, "key %s", key)
	}
	stats := w.expect.Stats()
	assert.Zero(w, stats.Keys)
	assert.Zero(w, stats.Waiting)
	for _, r := range w.resources {
		assert.Zero(w, r.seen.watched.Load())
		close(r.wake)
		r.Stop()
		<-r.Ended
		r.Ended <- nil
	}
	w.queue.ShutDown()
	assert.NoError(w, <-ran)
}
