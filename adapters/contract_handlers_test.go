package adapters_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

func TestContractAddHandlerBeforeStart(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "1"), pod("b", "2"))
		rec := r.handle()
		r.run()
		assert.Equal(t, []string{"initial ns/a@1", "initial ns/b@2"}, rec.next(), "in the list's order")
		r.send(added(pod("c", "11")), modified(pod("c", "12")), deleted(pod("c", "13")))
		assert.Equal(t, []string{"add ns/c@11", "update ns/c@11 ns/c@12", "delete ns/c@13"}, rec.next())
	})
}

func TestContractAddHandlerWhileRunning(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "1"))
		r.run()
		r.send(added(pod("b", "11")), modified(pod("b", "12")))
		rec := r.handle()
		assert.Equal(t, []string{"initial ns/a@1", "initial ns/b@12"}, rec.nextSorted(), "what the store holds")
		r.send(deleted(pod("b", "13")), added(pod("c", "14")))
		assert.Equal(t, []string{"delete ns/b@13", "add ns/c@14"}, rec.next())
	})
}

func TestContractAddHandlerBetweenStartAndSync(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		hold := make(chan struct{})
		r.script.lists("10", pod("a", "1"))
		list := r.script.list
		r.script.answers(func(options metav1.ListOptions) (runtime.Object, error) {
			<-hold
			return list(options)
		})
		r.run()
		rec := r.handle()
		assert.Empty(t, rec.next())
		assert.False(t, rec.handle.HasSynced())
		close(hold)
		assert.Equal(t, []string{"initial ns/a@1"}, rec.next())
		assert.True(t, rec.handle.HasSynced())
	})
}

func TestContractAddHandlerAfterStop(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.run()
		r.halt()
		period := time.Second
		for _, add := range []func() (cache.ResourceEventHandlerRegistration, error){
			func() (cache.ResourceEventHandlerRegistration, error) { return r.AddEventHandler(&recorder{}) },
			func() (cache.ResourceEventHandlerRegistration, error) {
				return r.AddEventHandlerWithResyncPeriod(&recorder{}, period)
			},
			func() (cache.ResourceEventHandlerRegistration, error) {
				return r.AddEventHandlerWithOptions(&recorder{}, cache.HandlerOptions{ResyncPeriod: &period})
			},
		} {
			handle, err := add()
			assert.ErrorContains(t, err, "was not added to shared informer because it has stopped already")
			assert.Equal(t, 1, strings.Count(err.Error(), "stopped"), "the reason comes once")
			assert.Nil(t, handle)
		}
	})
}

// A handler added twice is two handlers.
func TestContractAddHandlerTwice(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "1"))
		rec := r.handle()
		again, err := r.AddEventHandler(rec)
		require.NoError(t, err)
		assert.NotEqual(t, rec.handle, again)
		r.run()
		assert.Equal(t, []string{"initial ns/a@1", "initial ns/a@1"}, rec.next())
		require.NoError(t, r.RemoveEventHandler(again))
		r.send(deleted(pod("a", "11")))
		assert.Equal(t, []string{"delete ns/a@11"}, rec.next())
	})
}

func TestContractAddHandlerWithOptions(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "1"))
		logger := klog.Background()
		period := time.Duration(0)
		rec := r.handleWith(cache.HandlerOptions{Logger: &logger, ResyncPeriod: &period})
		r.run()
		assert.Equal(t, []string{"initial ns/a@1"}, rec.next())
	})
}

func TestContractHandlerFuncs(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "1"))
		var funcs, nothing, detailed, filtered recorder
		for _, handler := range []cache.ResourceEventHandler{
			cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { funcs.OnAdd(obj, false) }, UpdateFunc: funcs.OnUpdate, DeleteFunc: funcs.OnDelete},
			cache.ResourceEventHandlerFuncs{},
			cache.ResourceEventHandlerDetailedFuncs{AddFunc: detailed.OnAdd, UpdateFunc: detailed.OnUpdate, DeleteFunc: detailed.OnDelete},
			cache.FilteringResourceEventHandler{FilterFunc: func(obj any) bool { return describe(obj) != "ns/a@1" }, Handler: &filtered},
		} {
			_, err := r.AddEventHandler(handler)
			require.NoError(t, err)
		}
		r.run()
		r.send(modified(pod("a", "11")), deleted(pod("a", "12")))
		assert.Equal(t, []string{"add ns/a@1", "update ns/a@1 ns/a@11", "delete ns/a@12"}, funcs.next())
		assert.Empty(t, nothing.next())
		assert.Equal(t, []string{"initial ns/a@1", "update ns/a@1 ns/a@11", "delete ns/a@12"}, detailed.next())
		assert.Equal(t, []string{"add ns/a@11", "delete ns/a@12"}, filtered.next())
	})
}

// Handlers share the objects of the store, nothing is copied.
func TestContractHandlersShareObjects(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.run()
		one, other := r.handle(), r.handle()
		sent, changed, gone := pod("a", "11"), pod("a", "12"), pod("a", "13")
		r.send(added(sent))
		stored, _, err := r.GetStore().GetByKey("ns/a")
		require.NoError(t, err)
		assert.Same(t, sent, stored)
		r.send(modified(changed), deleted(gone))
		for _, rec := range []*recorder{one, other} {
			objs := rec.objects()
			require.Len(t, objs, 4)
			assert.Same(t, sent, objs[0])
			assert.Same(t, sent, objs[1])
			assert.Same(t, changed, objs[2])
			assert.Same(t, gone, objs[3])
		}
	})
}

// Handlers may use the informer: no lock is held while they are called.
func TestContractHandlerUsesInformer(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "1"))
		inner := &recorder{}
		rec := r.handle()
		rec.before = func(call string) {
			if call != "initial ns/a@1" {
				return
			}
			_, err := r.AddEventHandler(inner)
			assert.NoError(t, err)
			assert.NoError(t, r.AddIndexers(cache.Indexers{"new": cache.MetaNamespaceIndexFunc}))
			assert.Len(t, r.GetStore().List(), 1)
			assert.NoError(t, r.GetStore().Replace([]any{pod("a", "1")}, "5"))
			assert.NoError(t, r.GetStore().Add(pod("own", "5")))
			assert.False(t, r.IsStopped())
			assert.NotEmpty(t, r.HasSyncedChecker().Name())
			assert.Error(t, r.SetTransform(nil))
			r.stop()
		}
		ready := make(chan struct{})
		before := rec.before
		rec.before = func(call string) { <-ready; before(call) }
		r.run()
		close(ready)
		synctest.Wait()
		<-r.ended
		assert.Equal(t, []string{"ns/a@1", "ns/own@5"}, describeAll(r.GetStore().List()))
	})
}
