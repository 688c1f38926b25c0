package adapters_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
)

func TestContractRemoveHandler(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		early, removed, kept := r.handle(), r.handle(), r.handle()
		require.NoError(t, r.RemoveEventHandler(early.handle))
		r.run()
		r.send(added(pod("a", "11")))
		require.NoError(t, r.RemoveEventHandler(removed.handle))
		require.NoError(t, r.RemoveEventHandler(removed.handle), "again")
		r.send(added(pod("b", "12")))
		assert.Empty(t, early.next())
		assert.Equal(t, []string{"add ns/a@11"}, removed.next())
		assert.Equal(t, []string{"add ns/a@11", "add ns/b@12"}, kept.next())
		r.halt()
		assert.NoError(t, r.RemoveEventHandler(kept.handle), "after the stop")
		assert.NoError(t, r.RemoveEventHandler(removed.handle))
	})
}

// A removed handler can be added again: it is a new one.
func TestContractRemoveHandlerAndAddAgain(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "1"))
		r.run()
		rec := r.handle()
		require.NoError(t, r.RemoveEventHandler(rec.handle))
		synctest.Wait()
		rec.next()
		again, err := r.AddEventHandler(rec)
		require.NoError(t, err)
		assert.Equal(t, []string{"initial ns/a@1"}, rec.next())
		assert.True(t, again.HasSynced())
	})
}

func TestContractRemoveForeignHandler(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r, other := newRig(t, pods), newRig(t, pods)
		rec := other.handle()
		other.run()
		assert.NoError(t, r.RemoveEventHandler(rec.handle), "before the start")
		r.run()
		assert.NoError(t, r.RemoveEventHandler(rec.handle), "it is none of this informer's")
		other.send(added(pod("a", "11")))
		assert.Equal(t, []string{"add ns/a@11"}, rec.next(), "it still is the other's")
	})
}

// foreign is a registration that no informer made.
type foreign struct{}

func (foreign) HasSynced() bool                     { return true }
func (foreign) HasSyncedChecker() cache.DoneChecker { return nil }

func TestContractRemoveUnknownRegistration(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		for _, handle := range []cache.ResourceEventHandlerRegistration{foreign{}, nil} {
			assert.Error(t, r.RemoveEventHandler(handle))
			assert.Error(t, cache.ShutDownEventHandler(r, handle))
		}
		r.run()
		assert.Error(t, r.RemoveEventHandler(foreign{}))
		r.halt()
		assert.Error(t, r.RemoveEventHandler(foreign{}))
	})
}

func TestContractRemoveHandlerFromItself(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		rec := r.handle()
		rec.before = func(string) { assert.NoError(t, r.RemoveEventHandler(rec.handle)) }
		r.run()
		r.send(added(pod("a", "11")))
		r.send(added(pod("b", "12")))
		assert.Equal(t, []string{"add ns/a@11"}, rec.next())
	})
}

// RemoveEventHandler does not wait, and drops the backlog of the handler.
func TestContractRemoveBlockedHandler(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		rec, other := r.handle(), r.handle()
		hold := make(chan struct{})
		rec.before = func(string) { <-hold }
		r.run()
		r.send(added(pod("a", "11")), added(pod("b", "12")), added(pod("c", "13")))
		require.NoError(t, r.RemoveEventHandler(rec.handle)) // with the bubble's clock at a stand
		require.NoError(t, r.RemoveEventHandler(rec.handle))
		r.send(added(pod("d", "14")))
		assert.Len(t, other.next(), 4)
		close(hold)
		assert.Equal(t, []string{"add ns/a@11"}, rec.next(), "the call that ran, and no other")
	})
}

func TestContractShutDownHandlerWaits(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		rec := r.handle()
		hold := make(chan struct{})
		rec.before = func(string) { <-hold }
		r.run()
		r.send(added(pod("a", "11")), added(pod("b", "12")))
		down := make(chan struct{}, 2)
		for range 2 {
			go func() {
				assert.NoError(t, cache.ShutDownEventHandler(r, rec.handle))
				down <- struct{}{}
			}()
		}
		synctest.Wait()
		assert.Empty(t, down, "the handler is running")
		close(hold)
		<-down
		<-down
		assert.Equal(t, []string{"add ns/a@11"}, rec.next())
		assert.NoError(t, cache.ShutDownEventHandler(r, rec.handle), "again")
	})
}

// Programs pass the informer on inside their own interfaces.
func TestContractShutDownHandlerWithoutRun(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		never, running, ended := r.handle(), r.handle(), r.handle()
		assert.NoError(t, cache.ShutDownEventHandler(r, never.handle), "before the start")
		r.run()
		assert.NoError(t, cache.ShutDownEventHandler(r, never.handle))
		assert.NoError(t, cache.ShutDownEventHandler(r.SharedIndexInformer, running.handle))
		r.halt()
		assert.NoError(t, cache.ShutDownEventHandler(r, ended.handle), "after the stop")
		assert.NoError(t, cache.ShutDownEventHandler(r, running.handle))
	})
}
