package adapters_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// What unit tests do: put objects into the store of an informer that never runs.
func TestContractSeededAndNeverStarted(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRigWith(t, pods, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}})
		rec := r.handle()
		require.NoError(t, r.GetIndexer().Add(pod("a", "1")))
		require.NoError(t, r.GetStore().Add(podIn("other", "b", "2")))
		lister := corev1listers.NewPodLister(r.GetIndexer())
		all, err := lister.List(labels.Everything())
		require.NoError(t, err)
		assert.Len(t, all, 2)
		one, err := lister.Pods("ns").Get("a")
		require.NoError(t, err)
		assert.Equal(t, "1", one.ResourceVersion)
		require.NoError(t, r.GetIndexer().Delete(pod("a", "1")))
		assert.Equal(t, []string{"other/b@2"}, describeAll(r.GetStore().List()))
		assert.Empty(t, rec.next(), "handlers hear nothing of it")
		assert.False(t, r.HasSynced())
	})
}

// The initial list is compared with the objects that the store already holds.
func TestContractSeededAndListed(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		rec := r.handle()
		require.NoError(t, r.GetStore().Add(pod("seeded", "1")))
		require.NoError(t, r.GetStore().Add(pod("both", "2")))
		assert.Empty(t, rec.next())
		r.script.lists("10", pod("listed", "3"), pod("both", "4"))
		r.run()
		assert.Equal(t, []string{"delete tombstone(ns/seeded ns/seeded@1)", "initial ns/listed@3", "update ns/both@2 ns/both@4"}, rec.next())
		assert.Equal(t, []string{"ns/both@4", "ns/listed@3"}, describeAll(r.GetStore().List()))
		assert.True(t, rec.handle.HasSynced())
	})
}

// Handlers added before the start do not receive objects added to the store before them.
func TestContractSeededBeforeHandler(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		require.NoError(t, r.GetStore().Add(pod("a", "1")))
		rec := r.handle()
		assert.Empty(t, rec.next())
		r.script.fails(assert.AnError)
		r.run()
		assert.Empty(t, rec.next(), "nor at the start")
		late := r.handle()
		assert.Equal(t, []string{"initial ns/a@1"}, late.next(), "handlers of a running informer are")
		assert.False(t, late.handle.HasSynced())
		r.script.awaitLists(2)
		assert.Equal(t, []string{"delete tombstone(ns/a ns/a@1)"}, rec.next())
		assert.Equal(t, []string{"delete tombstone(ns/a ns/a@1)"}, late.next())
		assert.True(t, late.handle.HasSynced())
	})
}

// While it runs, too, what is put in is there, and events compare with it.
func TestContractSeededWhileRunning(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		rec := r.handle()
		r.script.lists("10", pod("a", "1"))
		r.run()
		rec.next()
		require.NoError(t, r.GetStore().Add(pod("b", "2")))
		require.NoError(t, r.GetStore().Update(pod("a", "3")))
		assert.Empty(t, rec.next())
		late := r.handle()
		assert.Equal(t, []string{"initial ns/a@3", "initial ns/b@2"}, late.nextSorted())
		r.send(added(pod("b", "11")), modified(pod("a", "12")))
		assert.Equal(t, []string{"update ns/b@2 ns/b@11", "update ns/a@3 ns/a@12"}, rec.next())
		require.NoError(t, r.GetStore().Delete(pod("b", "")))
		r.send(modified(pod("b", "13")), deleted(pod("a", "14")))
		assert.Equal(t, []string{"add ns/b@13", "delete ns/a@14"}, rec.next())
		require.NoError(t, r.GetStore().Replace([]any{pod("c", "4")}, "4"))
		r.relist("20", pod("d", "15"))
		assert.Equal(t, []string{"delete tombstone(ns/c ns/c@4)", "add ns/d@15"}, rec.next())
	})
}

func TestContractWrittenAfterStop(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRigWith(t, pods, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}})
		r.script.lists("10", pod("a", "1"))
		rec := r.handle()
		r.run()
		r.halt()
		rec.next()
		require.NoError(t, r.GetStore().Add(pod("b", "2")))
		require.NoError(t, r.GetStore().Delete(pod("a", "3")))
		keys, err := r.GetIndexer().IndexKeys(cache.NamespaceIndex, "ns")
		require.NoError(t, err)
		assert.Equal(t, []string{"ns/b"}, keys)
		assert.Equal(t, "3", r.GetStore().LastStoreSyncResourceVersion())
		assert.Equal(t, "10", r.LastSyncResourceVersion())
		assert.Empty(t, rec.next())
	})
}

// GetStore and GetIndexer are one and stay the same.
func TestContractStoreIsOne(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		store, indexer := r.GetStore(), r.GetIndexer()
		assert.Implements(t, (*cache.Indexer)(nil), store)
		require.NoError(t, store.Add(pod("a", "1")))
		assert.Len(t, indexer.List(), 1)
		r.script.lists("10", pod("b", "2"))
		r.run()
		assert.Equal(t, []string{"ns/b@2"}, describeAll(store.List()))
		assert.Equal(t, []string{"ns/b@2"}, describeAll(indexer.List()))
		assert.Equal(t, store, r.GetStore())
		assert.Equal(t, indexer, r.GetIndexer())
	})
}
