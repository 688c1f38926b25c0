package adapters_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// typedRig is a rig with the typed methods.
type typedRig struct {
	*rig
	cache.TypedSharedIndexInformer[*corev1.Pod]
}

func (r typedRig) pods() cache.TypedSharedIndexInformer[*corev1.Pod] {
	return r.TypedSharedIndexInformer
}

func eachTypedInformer(t *testing.T, test func(t *testing.T, r typedRig)) {
	t.Helper()
	eachImplementation(t, func(t *testing.T, impl implementation) {
		r := newRig(t, func(lw cache.ListerWatcher, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			options.Indexers[cache.NamespaceIndex] = cache.MetaNamespaceIndexFunc
			return impl.typedPods(lw, options)
		})
		require.Implements(t, (*cache.TypedSharedIndexInformer[*corev1.Pod])(nil), r.SharedIndexInformer)
		test(t, typedRig{r, r.SharedIndexInformer.(cache.TypedSharedIndexInformer[*corev1.Pod])})
	})
}

// typedRecorder writes down calls and deletions.
type typedRecorder struct {
	recorder
	gone []cache.DeletedObject[*corev1.Pod]
}

func (r *typedRecorder) OnAdd(p *corev1.Pod, initial bool) { r.recorder.OnAdd(p, initial) }
func (r *typedRecorder) OnUpdate(old, updated *corev1.Pod) { r.recorder.OnUpdate(old, updated) }
func (r *typedRecorder) OnDelete(d cache.DeletedObject[*corev1.Pod]) {
	r.gone = append(r.gone, d)
	r.note("delete " + d.GetKey())
}

func TestContractTypedHandler(t *testing.T) {
	eachTypedInformer(t, func(t *testing.T, r typedRig) {
		r.script.lists("10", pod("a", "1"))
		rec := &typedRecorder{}
		handle, err := r.pods().AddTypedEventHandler(rec)
		require.NoError(t, err)
		r.run()
		assert.True(t, handle.HasSynced())
		assert.True(t, cache.IsDone(handle.HasSyncedChecker()))
		r.send(modified(pod("a", "11")), added(pod("b", "12")), deleted(pod("b", "13")))
		assert.Equal(t, []string{"initial ns/a@1", "update ns/a@1 ns/a@11", "add ns/b@12", "delete ns/b"}, rec.next())
		require.NoError(t, r.pods().RemoveEventHandler(handle))
		r.send(deleted(pod("a", "14")))
		assert.Empty(t, rec.next())
		assert.NoError(t, cache.ShutDownEventHandler(r.pods(), handle))
	})
}

func TestContractTypedHandlerOptions(t *testing.T) {
	eachTypedInformer(t, func(t *testing.T, r typedRig) {
		rec := &typedRecorder{}
		_, err := r.pods().AddTypedEventHandler(rec, period(0))
		require.NoError(t, err)
		handle, err := r.pods().AddTypedEventHandler(rec, period(0), period(0))
		assert.ErrorContains(t, err, "at most one HandlerOptions")
		assert.Nil(t, handle)
		r.run()
		r.send(added(pod("a", "11")))
		assert.Equal(t, []string{"add ns/a@11"}, rec.next(), "once")
		r.halt()
		_, err = r.pods().AddTypedEventHandler(rec)
		assert.ErrorContains(t, err, "was not added to shared informer because it has stopped already")
	})
}

// A deletion that was watched has its object and nothing else; one that a
// relist has found has the tombstone too.
func TestContractTypedDeletions(t *testing.T) {
	eachTypedInformer(t, func(t *testing.T, r typedRig) {
		r.script.lists("10", pod("a", "1"), podIn("", "b", "2"))
		rec := &typedRecorder{}
		_, err := r.pods().AddTypedEventHandler(rec)
		require.NoError(t, err)
		r.run()
		stored, _, err := r.pods().GetStore().GetByKey("b")
		require.NoError(t, err)
		gone := pod("a", "11")
		r.send(deleted(gone))
		r.relist("20")
		require.Len(t, rec.gone, 2)

		watched := rec.gone[0]
		assert.Same(t, gone, watched.OptionalObj)
		assert.Nil(t, watched.FinalStateUnknown)
		assert.Equal(t, "ns/a", watched.GetKey())
		assert.Equal(t, "a", watched.GetName())
		assert.Equal(t, "ns", watched.GetNamespace())
		assert.Equal(t, cache.ObjectName{Namespace: "ns", Name: "a"}, watched.GetObjectName())

		relisted := rec.gone[1]
		assert.Same(t, stored, relisted.OptionalObj)
		require.NotNil(t, relisted.FinalStateUnknown)
		assert.Equal(t, "b", relisted.FinalStateUnknown.Key)
		assert.Same(t, stored, relisted.FinalStateUnknown.Obj)
		assert.Equal(t, "b", relisted.GetKey())
		assert.Equal(t, cache.ObjectName{Name: "b"}, relisted.GetObjectName())
	})
}

func TestContractTypedHandlerFuncs(t *testing.T) {
	eachTypedInformer(t, func(t *testing.T, r typedRig) {
		var funcs, detailed, filtered typedRecorder
		for _, handler := range []cache.TypedResourceEventHandler[*corev1.Pod]{
			cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{},
			cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{
				AddFunc:    func(p *corev1.Pod) { funcs.OnAdd(p, false) },
				UpdateFunc: funcs.OnUpdate, DeleteFunc: funcs.OnDelete,
			},
			cache.TypedResourceEventHandlerDetailedFuncs[*corev1.Pod]{AddFunc: detailed.OnAdd, DeleteFunc: detailed.OnDelete},
			cache.TypedFilteringResourceEventHandler[*corev1.Pod]{
				FilterFunc: func(p *corev1.Pod) bool { return p.ResourceVersion != "1" },
				Handler:    &filtered,
			},
		} {
			_, err := r.pods().AddTypedEventHandler(handler)
			require.NoError(t, err)
		}
		r.script.lists("10", pod("a", "1"))
		r.run()
		r.send(modified(pod("a", "11")), deleted(pod("a", "12")))
		assert.Equal(t, []string{"add ns/a@1", "update ns/a@1 ns/a@11", "delete ns/a"}, funcs.next())
		assert.Equal(t, []string{"initial ns/a@1", "delete ns/a"}, detailed.next())
		assert.Equal(t, []string{"add ns/a@11", "delete ns/a"}, filtered.next())
	})
}

// Typed and untyped handlers and methods work on one informer.
func TestContractTypedAndUntypedHandlers(t *testing.T) {
	eachTypedInformer(t, func(t *testing.T, r typedRig) {
		untyped := r.handle()
		rec := &typedRecorder{}
		_, err := r.pods().AddTypedEventHandler(rec)
		require.NoError(t, err)
		r.run()
		sent := pod("a", "11")
		r.send(added(sent))
		assert.Equal(t, []any{sent}, untyped.objects())
		assert.Equal(t, []any{sent}, rec.objects())
	})
}

func byNode(p *corev1.Pod) ([]string, error) { return []string{p.Spec.NodeName, "any"}, nil }

func TestContractTypedIndexer(t *testing.T) {
	eachTypedInformer(t, func(t *testing.T, r typedRig) {
		one, two := pod("a", "1"), podIn("other", "b", "2")
		one.Spec.NodeName, two.Spec.NodeName = "n1", "n2"
		require.NoError(t, r.pods().AddTypedIndexers(cache.TypedIndexers[*corev1.Pod]{"node": byNode}))
		assert.EqualError(t, r.pods().AddTypedIndexers(cache.TypedIndexers[*corev1.Pod]{"node": byNode}), "indexer conflict: map[node:{}]")
		store := r.pods().GetTypedIndexer()
		require.NoError(t, store.Add(one))
		require.NoError(t, r.pods().GetStore().Add(two))
		require.NoError(t, store.AddTypedIndexers(cache.TypedIndexers[*corev1.Pod]{"later": byNode}))

		for _, name := range []string{"node", "later"} {
			found, err := store.ByTypedIndex(name, "n1")
			require.NoError(t, err)
			assert.Equal(t, []*corev1.Pod{one}, found)
			found, err = store.ByTypedIndex(name, "any")
			require.NoError(t, err)
			assert.Equal(t, []string{"ns/a@1", "other/b@2"}, describeAll(found))
			found, err = store.TypedIndex(name, two)
			require.NoError(t, err)
			assert.Equal(t, []string{"ns/a@1", "other/b@2"}, describeAll(found), "of all of its values")
			found, err = store.ByTypedIndex(name, "unknown")
			require.NoError(t, err)
			assert.Empty(t, found)
			assert.NotNil(t, found)
			untyped, err := store.ByIndex(name, "n2")
			require.NoError(t, err)
			assert.Equal(t, []any{two}, untyped)
		}
		found, err := store.TypedIndex(cache.NamespaceIndex, podIn("ns", "", ""))
		require.NoError(t, err)
		assert.Equal(t, []*corev1.Pod{one}, found)
		_, err = store.ByTypedIndex("nope", "n1")
		assert.EqualError(t, err, "Index with name nope does not exist")
		_, err = store.TypedIndex("nope", one)
		assert.EqualError(t, err, "Index with name nope does not exist")

		r.run()
		r.halt()
		assert.ErrorContains(t, r.pods().AddTypedIndexers(cache.TypedIndexers[*corev1.Pod]{"after": byNode}), "stopped")
	})
}

func TestContractTypedIndexersInOptions(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl implementation) {
		inf := impl.typedPods(&script{}, cache.SharedIndexInformerOptions{
			Indexers: cache.TypedIndexersToIndexers(cache.TypedIndexers[*corev1.Pod]{"node": byNode}),
		})
		require.NoError(t, inf.GetStore().Add(pod("a", "1")))
		found, err := inf.GetTypedIndexer().ByTypedIndex("node", "any")
		require.NoError(t, err)
		assert.Len(t, found, 1)
	})
}
