package adapters_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
)

// With crashing disabled, a panic is reported, the event is skipped, and the
// next comes a second later.
func TestContractHandlerPanics(t *testing.T) {
	survivePanics(t)
	eachInformer(t, func(t *testing.T, pods newPods) {
		reported := catchPanics(t)
		r := newRig(t, pods)
		r.run()
		rec, other := r.handle(), r.handle()
		var at []time.Duration
		begin := time.Now()
		rec.before = func(call string) {
			at = append(at, time.Since(begin))
			if call == "add ns/a@11" || call == "add ns/b@12" {
				panic("on " + call)
			}
		}
		r.send(added(pod("a", "11")), added(pod("b", "12")), added(pod("c", "13")), added(pod("d", "14")))
		assert.Empty(t, rec.next(), "it pauses")
		assert.Len(t, other.next(), 4, "the others do not")
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"add ns/c@13", "add ns/d@14"}, rec.next())
		assert.Equal(t, []time.Duration{0, time.Second, 2 * time.Second, 2 * time.Second}, at)
		assert.Equal(t, []any{"on add ns/a@11", "on add ns/b@12"}, *reported)
	})
}

// A handler that panicked on an object of the first list never syncs.
func TestContractHandlerPanicsOnInitialList(t *testing.T) {
	survivePanics(t)
	eachInformer(t, func(t *testing.T, pods newPods) {
		catchPanics(t)
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "1"), pod("b", "2"))
		rec := r.handle()
		rec.before = func(call string) {
			if call == "initial ns/a@1" {
				panic(call)
			}
		}
		checker := rec.handle.HasSyncedChecker()
		r.run()
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"initial ns/b@2"}, rec.next())
		assert.True(t, r.HasSynced())
		assert.False(t, rec.handle.HasSynced())
		assert.False(t, cache.IsDone(rec.handle.HasSyncedChecker()))
		assert.False(t, cache.IsDone(checker), "nor what was asked for before")
	})
}

// A list that panics is tried again as one that fails.
func TestContractListPanics(t *testing.T) {
	survivePanics(t)
	eachInformer(t, func(t *testing.T, pods newPods) {
		reported := catchPanics(t)
		r := newRig(t, pods)
		faults := watchFaults(t, r)
		r.script.answersOnce(func(metav1.ListOptions) (runtime.Object, error) { panic("list") })
		r.run()
		r.script.awaitLists(2)
		assert.True(t, r.HasSynced())
		assert.Equal(t, []any{"list"}, *reported)
		assert.Empty(t, *faults)
	})
}

func TestContractHandlerPanicsThenIsRemoved(t *testing.T) {
	survivePanics(t)
	eachInformer(t, func(t *testing.T, pods newPods) {
		catchPanics(t)
		r := newRig(t, pods)
		r.run()
		rec := r.handle()
		rec.before = func(string) { panic("always") }
		r.send(added(pod("a", "11")))
		assert.NoError(t, cache.ShutDownEventHandler(r, rec.handle))
	})
}

// An index function that fails on a received object panics in the informer. The
// object is stored, its event may be lost, and the next one comes.
func TestContractIndexFunctionFailsWhileRunning(t *testing.T) {
	survivePanics(t)
	eachInformer(t, func(t *testing.T, pods newPods) {
		reported := catchPanics(t)
		r := newRigWith(t, pods, cache.SharedIndexInformerOptions{Indexers: pickyIndexers(nil)})
		rec := r.handle()
		r.run()
		r.send(added(pod("bad", "11")))
		require.Len(t, *reported, 1)
		assert.EqualError(t, (*reported)[0].(error), `unable to calculate an index entry for key "ns/bad" on index "picky": bad object`)
		_, exists, err := r.GetStore().GetByKey("ns/bad")
		require.NoError(t, err)
		assert.True(t, exists)
		r.send(added(pod("good", "12")))
		time.Sleep(time.Minute) // client-go waits a second
		calls := rec.next()
		assert.Subset(t, []string{"add ns/bad@11", "add ns/good@12"}, calls)
		assert.Contains(t, calls, "add ns/good@12")
		found, err := r.GetIndexer().IndexKeys("picky", "good")
		require.NoError(t, err)
		assert.Equal(t, []string{"ns/good"}, found)
	})
}

// If an index function panics for one object of a batch, handlers receive no false event, and none
// twice.
func TestContractIndexFunctionFailsInBatch(t *testing.T) {
	survivePanics(t)
	eachInformer(t, func(t *testing.T, pods newPods) {
		reported := catchPanics(t)
		hold := make(chan struct{})
		r := newRigWith(t, pods, cache.SharedIndexInformerOptions{Indexers: pickyIndexers(hold)})
		rec := r.handle()
		r.run()
		r.send(added(pod("hold", "10")))
		r.send(added(pod("a", "11")), added(pod("bad", "12")), added(pod("c", "13")))
		close(hold)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Len(t, *reported, 1)
		calls := rec.next()
		assert.Subset(t, []string{"add ns/hold@10", "add ns/a@11", "add ns/bad@12", "add ns/c@13"}, calls)
		assert.Len(t, calls, len(sets.New(calls...)), "each is told once")
		r.send(modified(pod("hold", "14")))
		assert.Equal(t, []string{"update ns/hold@10 ns/hold@14"}, rec.next())
	})
}

// A first list for which an index function fails is there all the same.
func TestContractIndexFunctionFailsOnFirstList(t *testing.T) {
	survivePanics(t)
	eachInformer(t, func(t *testing.T, pods newPods) {
		reported := catchPanics(t)
		r := newRigWith(t, pods, cache.SharedIndexInformerOptions{Indexers: pickyIndexers(nil)})
		rec := r.handle()
		r.script.lists("10", pod("a", "1"), pod("bad", "2"), pod("c", "3"))
		r.run()
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Len(t, *reported, 1)
		assert.True(t, r.HasSynced())
		assert.True(t, rec.handle.HasSynced())
		assert.Equal(t, []string{"ns/a@1", "ns/bad@2", "ns/c@3"}, describeAll(r.GetStore().List()))
		assert.Subset(t, []string{"initial ns/a@1", "initial ns/bad@2", "initial ns/c@3"}, rec.next())
		r.send(added(pod("d", "11")), modified(pod("a", "12")))
		assert.Equal(t, []string{"add ns/d@11", "update ns/a@1 ns/a@12"}, rec.next())
		assert.Len(t, r.script.listCalls(), 1)
	})
}

// pickyIndexers is an index whose function fails on the object named bad, and
// waits for hold, if there is one, on that of the name.
func pickyIndexers(hold <-chan struct{}) cache.Indexers {
	return cache.Indexers{"picky": func(obj any) ([]string, error) {
		switch m, _ := meta.Accessor(obj); {
		case m.GetName() == "bad":
			return nil, errors.New("bad object")
		case m.GetName() == "hold" && hold != nil:
			<-hold
		}
		return []string{"good"}, nil
	}}
}

// catchPanics returns the panics that are reported from now on.
func catchPanics(t *testing.T) *[]any {
	handlers := utilruntime.PanicHandlers
	t.Cleanup(func() { utilruntime.PanicHandlers = handlers })
	var reported []any
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, r any) { reported = append(reported, r) }}
	return &reported
}
