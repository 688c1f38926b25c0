package adapters_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// Deletions come first, then all listed objects in the list's order.
func TestContractRelist(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "1"), pod("b", "2"), pod("c", "3"), pod("d", "4"))
		rec := r.handle()
		r.run()
		rec.next()
		r.relist("20", pod("e", "15"), pod("b", "2"), pod("d", "14"), pod("0", "16"))
		calls := rec.next()
		require.Len(t, calls, 6)
		assert.ElementsMatch(t, []string{"delete tombstone(ns/a ns/a@1)", "delete tombstone(ns/c ns/c@3)"}, calls[:2])
		assert.Equal(t, []string{"add ns/e@15", "update ns/b@2 ns/b@2", "update ns/d@4 ns/d@14", "add ns/0@16"}, calls[2:], "and none is initial")
		assert.Equal(t, []string{"ns/0@16", "ns/b@2", "ns/d@14", "ns/e@15"}, describeAll(r.GetStore().List()))
	})
}

// The tombstone is a value with the store's key and object.
func TestContractTombstone(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "1"))
		rec := r.handle()
		r.run()
		stored, _, err := r.GetStore().GetByKey("ns/a")
		require.NoError(t, err)
		rec.next()
		r.relist("20")
		objs := rec.objects()
		require.Len(t, objs, 1)
		require.IsType(t, cache.DeletedFinalStateUnknown{}, objs[0])
		gone := objs[0].(cache.DeletedFinalStateUnknown)
		assert.Equal(t, "ns/a", gone.Key)
		assert.Same(t, stored, gone.Obj)
		key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(objs[0])
		require.NoError(t, err)
		assert.Equal(t, "ns/a", key)
	})
}

func TestContractRelistReplacesObjectsOfTheSameVersion(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "1"))
		r.run()
		before, _, err := r.GetStore().GetByKey("ns/a")
		require.NoError(t, err)
		r.relist("20", pod("a", "1"))
		after, _, err := r.GetStore().GetByKey("ns/a")
		require.NoError(t, err)
		assert.NotSame(t, before, after)
	})
}

func TestContractRelistUpdatesIndexes(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRigWith(t, pods, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}})
		r.script.lists("10", pod("a", "1"), podIn("other", "b", "2"))
		r.run()
		r.relist("20", podIn("third", "c", "12"), pod("d", "13"))
		assert.Equal(t, []string{"ns", "third"}, sorted(r.GetIndexer().ListIndexFuncValues(cache.NamespaceIndex)))
		keys, err := r.GetIndexer().IndexKeys(cache.NamespaceIndex, "ns")
		require.NoError(t, err)
		assert.Equal(t, []string{"ns/d"}, keys)
	})
}

// Two objects of one name in a list are two events. The last is stored.
func TestContractListWithDuplicates(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "1"), pod("a", "2"))
		rec := r.handle()
		r.run()
		assert.Equal(t, []string{"initial ns/a@1", "initial ns/a@2"}, rec.next())
		assert.True(t, rec.handle.HasSynced())
		r.relist("20", pod("a", "12"), pod("a", "11"))
		assert.Equal(t, []string{"update ns/a@2 ns/a@12", "update ns/a@2 ns/a@11"}, rec.next())
		assert.Equal(t, []string{"ns/a@11"}, describeAll(r.GetStore().List()))
	})
}

// A server closes watches all the time: that is no reason to list again.
func TestContractWatchClosed(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		rec := r.handle()
		r.run()
		r.send(added(pod("a", "11")), ended())
		r.send(added(pod("b", "12")), bookmark("15"), ended())
		r.send(added(pod("c", "16")))
		assert.Equal(t, []string{"add ns/a@11", "add ns/b@12", "add ns/c@16"}, rec.next())
		assert.Len(t, r.script.listCalls(), 1)
		var from []string
		for _, c := range r.script.watchCalls() {
			from = append(from, c.options.ResourceVersion)
		}
		assert.Equal(t, []string{"10", "11", "15"}, from)
	})
}

// listOf answers with a list of anything.
func listOf(version string, objs ...runtime.Object) answer {
	return func(metav1.ListOptions) (runtime.Object, error) {
		list := &corev1.List{ListMeta: metav1.ListMeta{ResourceVersion: version}}
		return list, meta.SetList(list, objs)
	}
}
