package adapters_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

func TestContractSyncedNames(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl implementation) {
		for want, example := range map[string]runtime.Object{
			"SharedIndexInformer *v1.Pod":                    &corev1.Pod{},
			"SharedIndexInformer *v1.PartialObjectMetadata":  &metav1.PartialObjectMetadata{},
			"SharedIndexInformer *unstructured.Unstructured": &unstructured.Unstructured{},
			"SharedIndexInformer <nil>":                      nil,
		} {
			assert.Equal(t, want, impl.simple(&script{}, example, 0, cache.Indexers{}).HasSyncedChecker().Name())
		}
		// The description is for the reflector's messages only.
		inf := impl.withOptions(&script{}, &corev1.Pod{}, cache.SharedIndexInformerOptions{ObjectDescription: "other"})
		assert.Equal(t, "SharedIndexInformer *v1.Pod", inf.HasSyncedChecker().Name())
		assert.Equal(t, "SharedIndexInformer *v1.Pod", impl.typedPods(&script{}, cache.SharedIndexInformerOptions{}).HasSyncedChecker().Name())
	})
}

// namedHandler is a handler whose type has a name.
type namedHandler struct {
	cache.ResourceEventHandlerFuncs
}

func onAddForName(any)      {}
func onDeleteForName(any)   {}
func (namedHandler) do(any) {}

func TestContractSyncedNamesOfHandlers(t *testing.T) {
	const here = "github.com/kubetyped/informer/adapters_test"
	tests := []struct {
		handler cache.ResourceEventHandler
		want    string
	}{
		{&namedHandler{}, here + ".namedHandler"},
		{namedHandler{}, here + ".namedHandler"},
		{cache.ResourceEventHandlerFuncs{AddFunc: onAddForName}, here},
		{&cache.ResourceEventHandlerFuncs{AddFunc: onAddForName, DeleteFunc: onDeleteForName}, here},
		{cache.ResourceEventHandlerFuncs{AddFunc: onAddForName, DeleteFunc: namedHandler{}.do}, here + ".onAddForName+" + here + ".namedHandler.do-fm"},
		{cache.ResourceEventHandlerFuncs{}, "cache.ResourceEventHandlerFuncs"},
		{cache.ResourceEventHandlerDetailedFuncs{}, "k8s.io/client-go/tools/cache.ResourceEventHandlerDetailedFuncs"},
		{cache.FilteringResourceEventHandler{}, "k8s.io/client-go/tools/cache.FilteringResourceEventHandler"},
	}
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		for _, test := range tests {
			handle, err := r.AddEventHandler(test.handler)
			require.NoError(t, err)
			assert.Equal(t, "SharedIndexInformer *v1.Pod + event handler "+test.want, handle.HasSyncedChecker().Name())
		}
	})
}

func TestContractSyncedAfterFirstList(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.fails(assert.AnError)
		rec := r.handle()
		r.run()
		assert.False(t, r.HasSynced())
		assert.False(t, rec.handle.HasSynced())
		r.script.awaitLists(2)
		assert.True(t, r.HasSynced(), "an empty list is one")
		assert.True(t, rec.handle.HasSynced())
		assert.True(t, cache.IsDone(rec.handle.HasSyncedChecker()))
	})
}

func TestContractSyncedOfHandlerWaitsForItsReturn(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "1"), pod("b", "2"))
		rec, other := r.handle(), r.handle()
		hold := make(chan struct{})
		rec.before = func(call string) {
			if call == "initial ns/b@2" {
				<-hold
			}
		}
		r.run()
		assert.True(t, r.HasSynced(), "the store is")
		assert.True(t, other.handle.HasSynced())
		assert.False(t, rec.handle.HasSynced(), "one call has not returned")
		assert.False(t, cache.IsDone(rec.handle.HasSyncedChecker()))
		close(hold)
		synctest.Wait()
		assert.True(t, rec.handle.HasSynced())
		assert.True(t, cache.IsDone(rec.handle.HasSyncedChecker()))
	})
}

func TestContractSyncedOfLateHandler(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "1"))
		r.run()
		hold := make(chan struct{})
		rec := &recorder{before: func(string) { <-hold }}
		handle, err := r.AddEventHandler(rec)
		require.NoError(t, err)
		synctest.Wait()
		assert.False(t, handle.HasSynced())
		r.send(added(pod("b", "11")))
		hold <- struct{}{}
		synctest.Wait()
		assert.True(t, handle.HasSynced(), "later events do not count")
		close(hold)
		assert.Equal(t, []string{"initial ns/a@1", "add ns/b@11"}, rec.next())
	})
}

func TestContractSyncedOfRemovedHandler(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		removed, synced := r.handle(), r.handle()
		require.NoError(t, r.RemoveEventHandler(removed.handle))
		r.run()
		require.NoError(t, r.RemoveEventHandler(synced.handle))
		synctest.Wait()
		assert.False(t, removed.handle.HasSynced(), "it never will be")
		assert.True(t, synced.handle.HasSynced(), "it stays so")
	})
}

func TestContractWaitForNeedsNoTime(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "1"))
		rec := r.handle()
		begin := time.Now()
		start(t, r.SharedIndexInformer)
		assert.True(t, cache.WaitFor(t.Context(), "pods", r.HasSyncedChecker(), rec.handle.HasSyncedChecker()))
		assert.Zero(t, time.Since(begin), "no polling")
		assert.True(t, cache.WaitForCacheSync(nil, r.HasSynced, rec.handle.HasSynced))
	})
}

func TestContractWaitForGivesUp(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		assert.False(t, cache.WaitFor(ctx, "pods", r.HasSyncedChecker()))
		assert.False(t, cache.WaitForCacheSync(ctx.Done(), r.HasSynced))
		assert.False(t, cache.WaitForNamedCacheSync("pods", ctx.Done(), r.HasSynced))
	})
}

func TestContractWaitForStoppedInformer(t *testing.T) {
	t.Run("that synced", func(t *testing.T) {
		eachInformer(t, func(t *testing.T, pods newPods) {
			r := newRig(t, pods)
			r.run()
			r.halt()
			assert.True(t, cache.WaitForCacheSync(t.Context().Done(), r.HasSynced))
		})
	})
	t.Run("that did not", func(t *testing.T) {
		eachInformer(t, func(t *testing.T, pods newPods) {
			r := newRig(t, pods)
			r.script.fails(assert.AnError)
			r.run()
			r.halt()
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			begin := time.Now()
			assert.False(t, cache.WaitForCacheSync(ctx.Done(), r.HasSynced))
			assert.Equal(t, time.Hour, time.Since(begin), "it waits until it is told not to")
		})
	})
}
