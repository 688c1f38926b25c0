package adapters_test

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
)

// ourRig is a rig of an informer of this package.
func ourRig(t *testing.T, indexers cache.Indexers) *rig {
	return newRigWith(t, func(lw cache.ListerWatcher, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
		return adapters.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, options)
	}, cache.SharedIndexInformerOptions{Indexers: indexers})
}

// Handlers receive all stored objects before a panic of an index function is reported; client-go
// loses some of them.
func TestEventsArriveThoughIndexFunctionPanics(t *testing.T) {
	survivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		reported := catchPanics(t)
		hold := make(chan struct{})
		r := ourRig(t, pickyIndexers(hold))
		rec := r.handle()
		r.script.lists("10", pod("a", "1"), pod("bad", "2"), pod("c", "3"))
		r.run()
		assert.Len(t, *reported, 1)
		assert.Equal(t, []string{"initial ns/a@1", "initial ns/bad@2", "initial ns/c@3"}, rec.next())
		r.send(added(pod("hold", "11")))
		r.send(modified(pod("a", "12")), modified(pod("bad", "13")), added(pod("d", "14")), modified(pod("a", "15")))
		close(hold)
		assert.Equal(t, []string{
			"add ns/hold@11", "update ns/a@1 ns/a@12", "update ns/bad@2 ns/bad@13", "add ns/d@14", "update ns/a@12 ns/a@15",
		}, rec.next())
		assert.Len(t, *reported, 2)
		assert.Equal(t, "15", r.GetStore().LastStoreSyncResourceVersion())
		keys, err := r.GetIndexer().IndexKeys("picky", "good")
		require.NoError(t, err)
		assert.Equal(t, []string{"ns/a", "ns/c", "ns/d", "ns/hold"}, keys)
	})
}

// A caller that writes to the store gets the panics for its own objects, and the informer those for
// the objects it receives, even if both write at the same time.
func TestPanicsOfIndexFunctionsReachTheWriter(t *testing.T) {
	survivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		reported := catchPanics(t)
		hold := make(chan struct{})
		r := ourRig(t, pickyIndexers(hold))
		r.run()
		r.send(added(pod("hold", "11")))
		r.send(added(pod("bad", "12")))
		var writing sync.WaitGroup
		writing.Go(func() { assert.NoError(t, r.GetStore().Add(pod("good", "1"))) })
		writing.Go(func() {
			assert.Panics(t, func() { _ = r.GetStore().Replace([]any{pod("b", "1"), podIn("other", "bad", "1")}, "2") })
		})
		writing.Go(func() { assert.Panics(t, func() { _ = r.GetStore().Add(podIn("third", "bad", "1")) }) })
		runtime.Gosched() // to where they wait for the batch
		close(hold)
		writing.Wait()
		synctest.Wait()
		require.Len(t, *reported, 1)
		assert.ErrorContains(t, (*reported)[0].(error), `"ns/bad"`)
	})
}
