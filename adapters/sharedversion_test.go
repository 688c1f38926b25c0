package adapters_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/typed"
)

// A relist changes the shared informer's store at once, but its handlers receive one object after
// the other, and the latest of them may come first.
func TestFromSharedVersionIsNeverAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := newSharedStub()
		close(stub.synced)
		a1, b2 := sharedPod("a", 1), sharedPod("b", 2)
		stub.put("4", a1, b2)
		pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](stub))
		sharedRun(t, pods.Run, nil)
		require.NoError(t, pods.WaitForSync(t.Context()))
		assert.Equal(t, "4", pods.ResourceVersion(), "the store's, before the handler was added")

		a9, b7 := sharedPod("a", 9), sharedPod("b", 7)
		stub.put("9", a9, b7)
		stub.send(func(h cache.ResourceEventHandler) { h.OnUpdate(a1, a9) })
		synctest.Wait()
		assert.Equal(t, "4", pods.ResourceVersion(), "b is not there yet")
		time.Sleep(5 * time.Millisecond)
		stub.send(func(h cache.ResourceEventHandler) { h.OnUpdate(b2, b7) })
		synctest.Wait()
		assert.Equal(t, "4", pods.ResourceVersion(), "there may be more")

		a10 := sharedPod("a", 10)
		stub.put("10", a10)
		stub.send(func(h cache.ResourceEventHandler) { h.OnUpdate(a9, a10) })
		synctest.Wait()
		assert.Equal(t, "9", pods.ResourceVersion(), "what is later than 9 comes after everything up to it")
		time.Sleep(sharedMoment)
		assert.Equal(t, "10", pods.ResourceVersion(), "nothing has come for a while")
	})
}

// sharedReads is an indexer that knows when its version was first read after it
// changed.
type sharedReads struct {
	cache.Indexer
	version string
	first   time.Time
}

func (r *sharedReads) LastStoreSyncResourceVersion() string {
	if v := r.Indexer.LastStoreSyncResourceVersion(); v != r.version {
		r.version, r.first = v, time.Now()
	}
	return r.version
}

// Quiet time before a change of the store does not count for the version after it.
func TestFromSharedVersionWaitsForTheQuietAfterAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := newSharedStub()
		close(stub.synced)
		reads := &sharedReads{Indexer: stub.store}
		stub.store = reads
		stub.put("1")
		pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](stub))
		sharedRun(t, pods.Run, nil)
		time.Sleep(500 * time.Millisecond)
		stub.put("2")
		for pods.ResourceVersion() != "2" {
			time.Sleep(time.Millisecond)
			synctest.Wait()
		}
		assert.GreaterOrEqual(t, time.Since(reads.first), 100*time.Millisecond, "no event has brought it there")
		assert.LessOrEqual(t, time.Since(reads.first), 100*time.Millisecond+sharedMoment)
	})
}

// The version advances even under load that never pauses.
func TestFromSharedVersionGoesOnUnderLoad(t *testing.T) {
	onShared(t, func(t *testing.T, newRig func(...string) *sharedRig) {
		r := newRig("a")
		r.startShared()
		r.startTyped()
		require.NoError(t, r.typed.WaitForSync(t.Context()))
		for n := range 100 {
			last := r.typed.ResourceVersion()
			r.write("a")
			r.write("a")
			r.write("a")
			synctest.Wait()
			if n > 0 {
				assert.NotEqual(t, last, r.typed.ResourceVersion(), "what was there the last time has come by now")
			}
			time.Sleep(time.Millisecond)
		}
	})
}

func TestFromSharedVersionFollowsWritesAndBookmarks(t *testing.T) {
	onShared(t, func(t *testing.T, newRig func(...string) *sharedRig) {
		r := newRig("a", "b")
		r.startShared()
		r.startTyped()
		require.NoError(t, r.typed.WaitForSync(t.Context()))
		assert.Equal(t, "2", r.typed.ResourceVersion())

		begin := time.Now()
		wait := func(version string) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			require.NoError(t, r.typed.WaitForResourceVersion(ctx, version))
		}
		wait(r.write("a"))
		assert.LessOrEqual(t, time.Since(begin), sharedMoment)
		r.remove("b")
		wait("4")
		wait(r.bookmark())
		assert.LessOrEqual(t, time.Since(begin), 2*time.Second)
		r.relist(func() { r.write("c"); r.write("b") })
		wait("7")
		r.requireSame()
	})
}
