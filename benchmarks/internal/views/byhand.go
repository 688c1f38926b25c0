package views

import (
	"context"
	"iter"
	"maps"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
)

// ByHand is what a good engineer writes on client-go: shared informers with the indexes
// that the task needs, handlers that put into a queue what has to be computed again, and
// a worker.
func ByHand() Side {
	return Side{Impl: "by-hand", Endpoints: endpointsByHand, Placements: placementsByHand, Applied: appliedByHand}
}

// controller is what all three have in common. Results have the names of the objects of
// the left input.
type controller[L, R Object, Out Result[Out]] struct {
	left, right *fedShared
	queue       *workqueue.Typed[types.NamespacedName]
	compute     func(left L) Out // of an object that is there
	changed     struct {         // handlers
		left  func(old, now L)
		right func(old, now R)
	}
	ctx     context.Context
	cancel  func()
	running sync.WaitGroup

	mu      sync.RWMutex
	results map[types.NamespacedName]Out // guarded by mu
}

func newController[L, R Object, Out Result[Out]](left []L, right []R, leftIndexers, rightIndexers cache.Indexers) *controller[L, R, Out] {
	c := &controller[L, R, Out]{
		left: runShared(left, leftIndexers), right: runShared(right, rightIndexers),
		queue: workqueue.NewTyped[types.NamespacedName](), results: map[types.NamespacedName]Out{},
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.left.waitForSync()
	c.right.waitForSync()
	return c
}

// enqueue adds an object of the left input to the queue, to be computed again.
func (c *controller[L, R, Out]) enqueue(obj metav1.Object) {
	c.queue.Add(keyOf(obj))
}

// Compute implements Running.
func (c *controller[L, R, Out]) Compute(notify func(old, now Out)) {
	right, left := handle(c.right, c.changed.right), handle(c.left, c.changed.left)
	c.running.Go(func() {
		if !cache.WaitForCacheSync(c.ctx.Done(), right.HasSynced, left.HasSynced) {
			return
		}
		for {
			key, shutdown := c.queue.Get()
			if shutdown {
				return
			}
			c.reconcile(key, notify)
			c.queue.Done(key)
		}
	})
}

func (c *controller[L, R, Out]) reconcile(key types.NamespacedName, notify func(old, now Out)) {
	obj, there, err := c.left.informer.GetIndexer().GetByKey(key.String())
	must(err)
	if !there {
		c.mu.Lock()
		delete(c.results, key)
		c.mu.Unlock()
		return
	}
	now := c.compute(obj.(L))
	c.mu.Lock()
	old, known := c.results[key]
	c.results[key] = now
	c.mu.Unlock()
	if !known || !now.Equal(old) {
		notify(old, now)
	}
}

// PutLeft implements Running.
func (c *controller[L, R, Out]) PutLeft(obj L) { c.left.put(obj) }

// PutRight implements Running.
func (c *controller[L, R, Out]) PutRight(obj R) { c.right.put(obj) }

// All implements Running.
func (c *controller[L, R, Out]) All() iter.Seq[Out] {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return maps.Values(maps.Clone(c.results))
}

// Stop implements Running.
func (c *controller[L, R, Out]) Stop() {
	c.cancel()
	c.queue.ShutDown()
	c.running.Wait()
	c.left.stop()
	c.right.stop()
}

// handle adds a handler. Old is the zero T for an object that was added, now for one that was
// deleted.
func handle[T Object](in *fedShared, changed func(old, now T)) cache.ResourceEventHandlerRegistration {
	var none T
	registration, err := in.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { changed(none, obj.(T)) },
		UpdateFunc: func(old, now any) { changed(old.(T), now.(T)) },
		DeleteFunc: func(obj any) {
			if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = unknown.Obj
			}
			changed(obj.(T), none)
		},
	})
	must(err)
	return registration
}

// fedShared is an informer of client-go on a feed.
type fedShared struct {
	informer cache.SharedIndexInformer
	feed     *cluster.Feed
	ctx      context.Context
	cancel   func()
	running  sync.WaitGroup
}

func runShared[T Object](objects []T, indexers cache.Indexers) *fedShared {
	var example T
	i := &fedShared{feed: cluster.NewFeed()}
	i.informer = cache.NewSharedIndexInformer(i.feed, example, 0, indexers)
	i.ctx, i.cancel = context.WithCancel(context.Background())
	i.running.Go(func() { i.informer.RunWithContext(i.ctx) })
	i.feed.Answer(cluster.ListOf(objects, "1"), func() {})
	return i
}

//informervet:ignore the context ends after the benchmark alone
func (i *fedShared) waitForSync() { cache.WaitForCacheSync(i.ctx.Done(), i.informer.HasSynced) }

func (i *fedShared) put(obj runtime.Object) {
	i.feed.Events <- watch.Event{Type: watch.Modified, Object: obj}
}

func (i *fedShared) stop() {
	i.cancel()
	i.running.Wait()
}
