package control_test

import (
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
)

// adds is a queue that writes down what is added.
type adds[K comparable] struct {
	mu   sync.Mutex
	list []string
}

func (a *adds[K]) AddWithOptions(key K, o queue.AddOptions) {
	a.mu.Lock()
	defer a.mu.Unlock()
	word := fmt.Sprint(key)
	switch o {
	case queue.AddOptions{}:
	case queue.AddOptions{Priority: queue.LowPriority}:
		word += " low"
	default:
		word += fmt.Sprintf(" %+v", o)
	}
	a.list = append(a.list, word)
}

// next returns the adds since the last time.
func (a *adds[K]) next() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := a.list
	a.list = nil
	return list
}

// TestReleasedIsNotEnqueued: what another process has now is nothing to work on here.
func TestReleasedIsNotEnqueued(t *testing.T) {
	q := &adds[index.Key]{}
	for _, h := range []typed.Handler[*rig.Thing]{
		control.Enqueue[*rig.Thing](q),
		control.EnqueueFunc(q, func(obj *rig.Thing) iter.Seq[index.Key] { return slices.Values([]index.Key{index.KeyOf(obj)}) }),
		control.EnqueueKey(q, func(obj *rig.Thing) (index.Key, bool) { return index.KeyOf(obj), true }),
	} {
		obj := rig.At("a", 1)
		h.OnDelete(typed.Deleted[*rig.Thing]{Key: index.KeyOf(obj), Object: obj, Old: obj, Reason: index.Released})
		assert.Empty(t, q.next())
		h.OnDelete(typed.Deleted[*rig.Thing]{Key: index.KeyOf(obj), Object: obj, Old: obj, Reason: index.Relisted})
		assert.Len(t, q.next(), 1)
	}
}

func TestEnqueue(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		q := &adds[index.Key]{}
		r := rig.New(t)
		reg, err := r.Handle(control.Enqueue[*rig.Thing](q), typed.WithResync(time.Minute))
		require.NoError(t, err)
		assert.Equal(t, "enqueue", reg.Name())
		added := func() []string {
			synctest.Wait()
			return q.next()
		}
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 2)}, "2")
		assert.ElementsMatch(t, []string{"ns/a low", "ns/b low"}, added(), "the first list")
		sinktest.Put(r.Sink, rig.At("c", 3), "3")
		sinktest.Put(r.Sink, rig.At("a", 4), "4")
		sinktest.Delete(r.Sink, rig.At("b", 5), "5")
		assert.Equal(t, []string{"ns/c", "ns/a", "ns/b"}, added())

		recreated := rig.At("c", 3)
		recreated.UID = "another"
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 4), recreated, rig.At("d", 6)}, "6")
		assert.Equal(t, []string{"ns/a low", "ns/c", "ns/d"}, added(), "after a relist, a is as it was")
		time.Sleep(90 * time.Second)
		assert.ElementsMatch(t, []string{"ns/a low", "ns/c low", "ns/d low"}, added(), "a resync")

		late := &adds[index.Key]{}
		_, err = r.Handle(control.Enqueue[*rig.Thing](late))
		require.NoError(t, err)
		synctest.Wait()
		assert.ElementsMatch(t, []string{"ns/a low", "ns/c low", "ns/d low"}, late.next(), "what a late handler is told of")
	})
}

func TestEnqueueOnQueues(t *testing.T) {
	own, err := queue.NewWorkQueue[index.Key]()
	require.NoError(t, err)
	defer own.ShutDown()
	clientGo := workqueue.NewTyped[index.Key]()
	defer clientGo.ShutDown()
	for _, q := range []control.Adder[index.Key]{own, control.AdderFunc[index.Key](clientGo.Add)} {
		h := control.Enqueue[*rig.Thing](q)
		h.OnAdd(rig.At("a", 1), true)
		h.OnAdd(rig.At("b", 2), false)
	}
	var keys []string
	for range 2 {
		key, _ := own.Get()
		own.Done(key)
		keys = append(keys, key.Name)
	}
	for range 2 {
		key, _ := clientGo.Get()
		clientGo.Done(key)
		keys = append(keys, key.Name)
	}
	assert.Equal(t, []string{"b", "a", "a", "b"}, keys, "client-go has no priorities")
}

// nodeKey is a key that is no index.Key.
type nodeKey struct{ node string }

func node(o *rig.Thing) iter.Seq[nodeKey] {
	if o.Node == "" {
		return nil
	}
	return slices.Values([]nodeKey{{o.Node}})
}

func TestEnqueueFunc(t *testing.T) {
	q := &adds[nodeKey]{}
	checkEnqueueFunc(t, q, control.EnqueueFunc(q, node))
}

func TestEnqueueKey(t *testing.T) {
	q := &adds[nodeKey]{}
	checkEnqueueFunc(t, q, control.EnqueueKey(q, func(o *rig.Thing) (nodeKey, bool) { return nodeKey{o.Node}, o.Node != "" }))
}

// checkEnqueueFunc checks a handler that adds the nodes of things.
func checkEnqueueFunc(t *testing.T, q *adds[nodeKey], h typed.Handler[*rig.Thing]) {
	x, y, nowhere := rig.On("x", rig.At("a", 1)), rig.On("y", rig.At("a", 2)), rig.On("", rig.At("a", 3))

	h.OnAdd(x, true)
	assert.Equal(t, []string{"{x} low"}, q.next())
	h.OnAdd(nowhere, false)
	assert.Empty(t, q.next(), "no keys")
	h.OnUpdate(x, rig.On("x", rig.At("a", 2)))
	assert.Equal(t, []string{"{x}"}, q.next(), "the same key before and after")
	h.OnUpdate(x, y)
	assert.Equal(t, []string{"{y}", "{x}"}, q.next(), "the key has changed")
	h.OnUpdate(x, x)
	assert.Equal(t, []string{"{x} low"}, q.next(), "a resync")
	h.OnUpdate(x, rig.On("x", rig.At("a", 1)))
	assert.Equal(t, []string{"{x} low"}, q.next(), "a relist without a change")
	h.OnUpdate(y, nowhere)
	assert.Equal(t, []string{"{y}"}, q.next())
	h.OnDelete(typed.Deleted[*rig.Thing]{Key: rig.Key("a"), Object: y, Old: y})
	assert.Equal(t, []string{"{y}"}, q.next())
	h.OnDelete(typed.Deleted[*rig.Thing]{Key: rig.Key("a"), Object: y, Old: x})
	assert.Equal(t, []string{"{y}", "{x}"}, q.next(), "the handler was last told of x")
	h.OnDelete(typed.Deleted[*rig.Thing]{Key: rig.Key("a"), Object: y})
	assert.Equal(t, []string{"{y}"}, q.next(), "a deletion that something else made up")
}

func TestEnqueueFuncWithManyKeys(t *testing.T) {
	upTo := func(o *rig.Thing) iter.Seq[string] { // each key twice
		return func(yield func(string) bool) {
			for i := range 2 * o.Version {
				if !yield(fmt.Sprint(i / 2)) {
					return
				}
			}
		}
	}
	for _, n := range []int{1, 7, 8, 9, 10, 100} {
		q := &adds[string]{}
		control.EnqueueFunc(q, upTo).OnUpdate(rig.At("a", n/2), rig.At("a", n))
		var want []string
		for i := range n {
			want = append(want, fmt.Sprint(i))
		}
		assert.Equal(t, want, q.next(), "each once, of %d", n)
	}
}

// A handler that coalesces receives the state it knows and the last one, and adds the keys of both.
func TestEnqueueFuncCoalesced(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		q := &adds[nodeKey]{}
		r := rig.New(t)
		hold := make(chan struct{})
		h := control.EnqueueFunc(q, func(o *rig.Thing) iter.Seq[nodeKey] {
			if o.Name == "stop" {
				<-hold
			}
			return node(o)
		})
		_, err := r.Handle(h, typed.WithDelivery(typed.Coalesce()))
		require.NoError(t, err)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.On("x", rig.At("a", 1))}, "1")
		synctest.Wait()
		assert.Equal(t, []string{"{x} low"}, q.next())
		sinktest.Put(r.Sink, rig.On("", rig.At("stop", 2)), "2")
		synctest.Wait()
		sinktest.Put(r.Sink, rig.On("y", rig.At("a", 3)), "3")
		sinktest.Put(r.Sink, rig.On("z", rig.At("a", 4)), "4")
		sinktest.Delete(r.Sink, rig.On("z", rig.At("a", 5)), "5")
		synctest.Wait()
		close(hold)
		synctest.Wait()
		assert.Equal(t, []string{"{z}", "{x}"}, q.next())
	})
}

func TestHandlersOfQueuesCheckTheirArguments(t *testing.T) {
	r := rig.New(t)
	keys := func(*rig.Thing) iter.Seq[index.Key] { return nil }
	none, err := queue.NewWorkQueue[index.Key](nil)
	require.Error(t, err)
	for want, h := range map[string]typed.Handler[*rig.Thing]{
		"handler not added: queue is nil": control.Enqueue[*rig.Thing](nil),
		"added: queue is nil":             control.Enqueue[*rig.Thing](none),
		"not added: queue is nil":         control.Enqueue[*rig.Thing](control.AdderFunc[index.Key](nil)),
		"ler not added: queue is nil":     control.Enqueue[*rig.Thing]((*adds[index.Key])(nil)),
		"queue is nil":                    control.EnqueueFunc(nil, keys),
		"key function is nil":             control.EnqueueFunc[index.Key, *rig.Thing](&adds[index.Key]{}, nil),
		"function is nil":                 control.EnqueueKey[index.Key, *rig.Thing](&adds[index.Key]{}, nil),
		"r not added: queue is nil":       control.FilterUpdates(control.Filter(control.Enqueue[*rig.Thing](nil), func(*rig.Thing) bool { return true })),
	} {
		_, err := r.Handle(h)
		assert.ErrorContains(t, err, want)
	}
	assert.Empty(t, r.Status().Handlers)
}

func TestEnqueueAllocatesNothing(t *testing.T) {
	q := control.AdderFunc[index.Key](func(index.Key) {})
	old, updated := rig.At("a", 1), rig.At("a", 2)
	h := control.Enqueue[*rig.Thing](q)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		h.OnAdd(old, true)
		h.OnUpdate(old, updated)
		h.OnDelete(typed.Deleted[*rig.Thing]{Key: rig.Key("a"), Object: updated, Old: updated})
	}))
}
