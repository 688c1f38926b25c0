package adapters_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// given is the source of a typed informer that was made elsewhere.
type given struct{ sink chan source.Sink[*corev1.Pod] }

func (g given) Run(ctx context.Context, sink source.Sink[*corev1.Pod]) error {
	g.sink <- sink
	<-ctx.Done()
	return nil
}

// onGiven runs a test on a typed informer and its client-go shape, which run.
func onGiven(t *testing.T, opts []typed.Option, test func(t *testing.T, inf *typed.Informer[*corev1.Pod], shape cache.TypedSharedIndexInformer[*corev1.Pod], sink source.Sink[*corev1.Pod], stop func())) {
	synctest.Test(t, func(t *testing.T) {
		src := given{make(chan source.Sink[*corev1.Pod], 1)}
		inf := typed.NewInformer(src, opts...)
		shape := adapters.SharedIndexInformer(inf)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { shape.RunWithContext(ctx) })
		stop := func() { cancel(); running.Wait() }
		defer stop()
		test(t, inf, shape, <-src.sink, stop)
	})
}

// TestShapeOfNil: methods return errors, and reads find nothing.
func TestShapeOfNil(t *testing.T) {
	shape := adapters.SharedIndexInformer[*corev1.Pod](nil)
	const message = "informer SharedIndexInformer(nil) of *v1.Pod: source is nil"
	_, err := shape.AddEventHandler(cache.ResourceEventHandlerFuncs{})
	assert.ErrorContains(t, err, message)
	assert.ErrorContains(t, shape.AddIndexers(cache.Indexers{"node": nodeOf}), message)
	assert.Error(t, shape.SetTransform(nil))
	assert.Error(t, shape.GetIndexer().Add(pod("a", "1")))
	assert.Empty(t, shape.GetIndexer().List())
	shape.RunWithContext(t.Context())
	assert.False(t, shape.HasSynced())
}

// TestIndexerOfNil: writes return errors, and reads find nothing.
func TestIndexerOfNil(t *testing.T) {
	store := adapters.Indexer[*corev1.Pod](nil)
	const message = "adapters.Indexer: indexer is nil"
	assert.ErrorContains(t, store.Add(pod("a", "1")), message)
	assert.ErrorContains(t, store.Delete(pod("a", "1")), message)
	assert.ErrorContains(t, store.Replace([]any{pod("a", "1")}, "1"), message)
	assert.ErrorContains(t, store.AddIndexers(cache.Indexers{"node": nodeOf}), message)
	store.Bookmark("1")
	assert.Empty(t, store.List())
	assert.Empty(t, store.ListKeys())
	_, ok, err := store.GetByKey("ns/a")
	require.NoError(t, err)
	assert.False(t, ok)
	assert.Empty(t, adapters.Reader[*corev1.Pod](store).List())
}

// TestShapesOfOneInformer: a handler that was added by one shape is removed by another one.
func TestShapesOfOneInformer(t *testing.T) {
	onGiven(t, nil, func(t *testing.T, inf *typed.Informer[*corev1.Pod], shape cache.TypedSharedIndexInformer[*corev1.Pod], sink source.Sink[*corev1.Pod], _ func()) {
		removed, shutDown := &recorder{}, &recorder{}
		handle, err := shape.AddEventHandler(removed)
		require.NoError(t, err)
		other, err := adapters.SharedIndexInformer(inf).AddEventHandler(shutDown)
		require.NoError(t, err)
		require.NoError(t, adapters.SharedIndexInformer(inf).RemoveEventHandler(handle))
		require.NoError(t, cache.ShutDownEventHandler(shape, other))
		sinktest.Put(sink, pod("a", "1"), "1")
		assert.Empty(t, removed.next())
		assert.Empty(t, shutDown.next())
		assert.NoError(t, shape.RemoveEventHandler(handle), "again")
	})
}

func TestShapeOfATypedInformer(t *testing.T) {
	onGiven(t, nil, func(t *testing.T, inf *typed.Informer[*corev1.Pod], shape cache.TypedSharedIndexInformer[*corev1.Pod], sink source.Sink[*corev1.Pod], stop func()) {
		rec := &recorder{}
		handle, err := shape.AddEventHandler(rec)
		require.NoError(t, err)
		require.NoError(t, shape.AddIndexers(cache.Indexers{"node": nodeOf}))
		assert.False(t, shape.HasSynced())
		assert.Empty(t, shape.LastSyncResourceVersion())
		sinktest.Replace(sink, "", []*corev1.Pod{pod("a", "1"), pod("b", "2")}, "3")
		assert.ElementsMatch(t, []string{"initial ns/a@1", "initial ns/b@2"}, rec.next())
		assert.True(t, shape.HasSynced())
		assert.True(t, handle.HasSynced())
		assert.Equal(t, "3", shape.LastSyncResourceVersion())
		assert.Equal(t, "3", shape.GetController().LastSyncResourceVersion())
		found, err := shape.GetTypedIndexer().ByTypedIndex("node", "")
		require.NoError(t, err)
		assert.Len(t, found, 2)

		var typedDeletions []string
		_, err = shape.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{DeleteFunc: func(d cache.DeletedObject[*corev1.Pod]) {
			typedDeletions = append(typedDeletions, fmt.Sprint(d.GetKey(), " ", d.FinalStateUnknown != nil))
		}})
		require.NoError(t, err)
		sinktest.Delete(sink, pod("a", "4"), "4")
		sinktest.Replace(sink, "", nil, "5")
		assert.Equal(t, []string{"delete ns/a@4", "delete tombstone(ns/b ns/b@2)"}, rec.next())
		assert.Equal(t, []string{"ns/a false", "ns/b true"}, typedDeletions)

		require.NoError(t, cache.ShutDownEventHandler(shape, handle))
		sinktest.Put(sink, pod("c", "6"), "6")
		assert.Empty(t, rec.next())

		inf2, err := inf.Handle(typed.HandlerFuncs[*corev1.Pod]{})
		require.NoError(t, err, "handlers of both kinds go together")
		inf2.Close()
		stop()
		assert.True(t, shape.IsStopped())
		_, err = shape.AddEventHandler(rec)
		assert.ErrorIs(t, err, typed.ErrStopped)
		assert.Error(t, shape.AddIndexers(cache.Indexers{}))
		shape.RunWithContext(klog.NewContext(t.Context(), klog.New(nil))) // returns at once
	})
}

func TestShapeOfATypedInformerThatKeepsItsStore(t *testing.T) {
	onGiven(t, nil, func(t *testing.T, _ *typed.Informer[*corev1.Pod], shape cache.TypedSharedIndexInformer[*corev1.Pod], sink source.Sink[*corev1.Pod], _ func()) {
		sinktest.Replace(sink, "", []*corev1.Pod{pod("a", "1")}, "1")
		synctest.Wait()
		store := shape.GetIndexer()
		const want = "make the informer with typed.WithIndexer"
		assert.ErrorContains(t, store.Add(pod("b", "2")), want)
		assert.ErrorContains(t, store.Update(pod("a", "2")), want)
		assert.ErrorContains(t, store.Delete(pod("a", "2")), want)
		assert.ErrorContains(t, store.Replace(nil, "2"), want)
		err := store.(cache.TransactionStore).Transaction(cache.Transaction{Type: cache.TransactionTypeAdd, Object: pod("b", "2")})
		require.NotNil(t, err)
		assert.ErrorContains(t, err, want)
		store.Bookmark("2")
		assert.Equal(t, "1", store.LastStoreSyncResourceVersion())
		assert.Equal(t, []string{"ns/a"}, store.ListKeys())
		assert.ErrorContains(t, shape.SetTransform(nil), "belong to its source")
		assert.ErrorContains(t, shape.SetWatchErrorHandler(nil), "belong to its source")
	})
}

func TestShapeOfATypedInformerThatSharesItsStore(t *testing.T) {
	opts := []typed.Option{typed.WithIndexer(index.NewIndexer[*corev1.Pod]())}
	onGiven(t, opts, func(t *testing.T, inf *typed.Informer[*corev1.Pod], shape cache.TypedSharedIndexInformer[*corev1.Pod], _ source.Sink[*corev1.Pod], _ func()) {
		require.NoError(t, shape.GetIndexer().Add(pod("b", "2")))
		assert.Equal(t, 1, inf.Len())
	})
}

// TestShapeResyncs: each handler of an informer can request its own resync period.
func TestShapeResyncs(t *testing.T) {
	onGiven(t, nil, func(t *testing.T, _ *typed.Informer[*corev1.Pod], shape cache.TypedSharedIndexInformer[*corev1.Pod], sink source.Sink[*corev1.Pod], _ func()) {
		often, never := &recorder{}, &recorder{}
		_, err := shape.AddEventHandlerWithResyncPeriod(often, 90*time.Second)
		require.NoError(t, err)
		_, err = shape.AddEventHandler(never)
		require.NoError(t, err)
		sinktest.Replace(sink, "", []*corev1.Pod{pod("a", "1")}, "1")
		often.next()
		never.next()
		time.Sleep(91 * time.Second)
		assert.Equal(t, []string{"update ns/a@1 ns/a@1"}, often.next())
		assert.Empty(t, never.next())
	})
}

// TestStreamedListTransformedOnce: client-go transforms the objects of a streamed list when they
// come, and again when the list is complete.
func TestStreamedListTransformedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newStreamRig(t, func(lw cache.ListerWatcher, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			return adapters.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, options)
		})
		var transformed []string
		require.NoError(t, r.SetTransform(func(obj any) (any, error) {
			transformed = append(transformed, describe(obj))
			return obj, nil
		}))
		r.run()
		r.send(added(pod("a", "1")), added(pod("b", "2")), modified(pod("b", "3")), initialEnd("10"), modified(pod("a", "11")))
		assert.Equal(t, []string{"ns/a@1", "ns/b@2", "ns/b@3", "ns/a@11"}, transformed)
	})
}

// TestAddIndexersAddsAllOrNone: after an error, all names are free.
func TestAddIndexersAddsAllOrNone(t *testing.T) {
	for range 16 { // in any order
		store := adapters.NewSharedIndexInformerWithOptions(&script{}, &corev1.Pod{}, cache.SharedIndexInformerOptions{}).GetIndexer()
		before := store.GetIndexers()
		require.EqualError(t, store.AddIndexers(cache.Indexers{"letter": byLetter, "none": nil}), `indexer "none" has no function`)
		assert.Empty(t, before)
		require.NoError(t, store.AddIndexers(cache.Indexers{"letter": byLetter}))
		assert.Len(t, store.GetIndexers(), 1)
	}
}
