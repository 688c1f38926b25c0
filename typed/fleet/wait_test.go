package fleet_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
)

// call runs a function, and returns a channel that receives its result.
func call(f func() error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- f() }()
	return result
}

// ended returns the result of a call, false if it waits.
func ended(result <-chan error) (error, bool) {
	synctest.Wait()
	select {
	case err := <-result:
		return err, true
	default:
		return nil, false
	}
}

// TestWaitForSync waits for the clusters that it is asked for, and no others.
func TestWaitForSync(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := prepareWorld(t, []string{"east", "west"})
		ctx, cancel := context.WithCancel(t.Context())
		east := call(func() error { return w.source.WaitForSync(ctx, "east") })
		all := call(func() error { return w.source.WaitForSync(ctx) })
		assert.ErrorIs(t, w.source.WaitForSync(ctx, "north"), fleet.ErrNotMember)
		w.start()
		w.list("east", 5, at("a", 1))
		w.of("west").Report(errDown)
		err, over := ended(east)
		assert.True(t, over)
		assert.NoError(t, err)
		assert.Equal(t, 1, w.Len())
		_, over = ended(all)
		assert.False(t, over)
		cancel()
		err, over = ended(all)
		assert.True(t, over)
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, errDown)
		assert.ErrorContains(t, err, "cluster west is not synced: context canceled; it fails since ")
	})
}

// TestWaitEnds when the cluster leaves, or the informer stops.
func TestWaitEnds(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, []string{"east", "west"})
		east := call(func() error { return w.source.WaitForSync(t.Context(), "east") })
		west := call(func() error { return w.source.WaitForResourceVersion(t.Context(), "west", "7") })
		synctest.Wait()
		w.clusters.Remove("east")
		err, over := ended(east)
		assert.True(t, over)
		assert.ErrorIs(t, err, fleet.ErrNotMember)
		_, over = ended(west)
		assert.False(t, over)
		w.stop()
		err, over = ended(west)
		assert.True(t, over)
		assert.ErrorIs(t, err, typed.ErrStopped)
		assert.ErrorContains(t, err, `cluster west: waited for resource version 7, is at ""`)
	})
}

// TestVersionsOfClusters: a version of one cluster says nothing of another, and is reached
// when reads reflect it.
func TestVersionsOfClusters(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, []string{"east", "west"})
		w.list("east", 5, at("a", 1))
		w.list("west", 900, at("a", 1))
		synctest.Wait()
		assert.Equal(t, "east=5;west=900", w.ResourceVersion())
		assert.Equal(t, []fleet.VersionOf{{Cluster: "east", ResourceVersion: "5"}, {Cluster: "west", ResourceVersion: "900"}}, fleet.ParseVersion(w.ResourceVersion()))
		assert.Nil(t, fleet.ParseVersion("815"))
		assert.Nil(t, fleet.ParseVersion(""))

		assert.NoError(t, w.source.WaitForResourceVersion(t.Context(), "east", "5"))
		east := call(func() error { return w.source.WaitForResourceVersion(t.Context(), "east", "7") })
		sinktest.Put(w.of("west"), at("b", 901), "901")
		sinktest.Put(w.of("east"), at("b", 6), "6")
		_, over := ended(east)
		assert.False(t, over)
		sinktest.Put(w.of("east"), at("b", 8), "8")
		err, over := ended(east)
		assert.True(t, over)
		assert.NoError(t, err)
		assert.Equal(t, []string{"east/ns/a@1", "east/ns/b@8", "west/ns/a@1", "west/ns/b@901"}, w.keys())
		sinktest.Bookmark(w.of("west"), "950")
		synctest.Wait()
		assert.Equal(t, "east=8;west=950", w.ResourceVersion())
		assert.NoError(t, w.source.WaitForResourceVersion(t.Context(), "west", "950"))

		assert.ErrorContains(t, w.source.WaitForResourceVersion(t.Context(), "west", "soon"), `resource version "soon" is not a positive number`)
		assert.Error(t, w.WaitForResourceVersion(t.Context(), "5"), "versions of clusters cannot be compared")
	})
}

// TestReadYourWrites: when the wait for a version returns, reads have it, although the
// informer's loop was held up by a handler.
func TestReadYourWrites(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := prepareWorld(t, []string{"east"})
		_, err := w.Handle(typed.HandlerFuncs[inCluster]{AddFunc: func(inCluster, bool) { time.Sleep(time.Second) }}, typed.WithDelivery(typed.Block(1)))
		require.NoError(t, err)
		w.start()
		w.list("east", 5)
		sink := w.of("east")
		put := call(func() error {
			for i, name := range []string{"a", "b", "c", "d", "e", "f"} {
				sinktest.Put(sink, at(name, 10+i), []string{"10", "11", "12", "13", "14", "15"}[i])
			}
			return nil
		})
		for _, version := range []string{"10", "13", "15"} {
			require.NoError(t, w.source.WaitForResourceVersion(t.Context(), "east", version))
			found := false
			for obj := range w.All() {
				found = found || obj.GetResourceVersion() == version
			}
			assert.True(t, found, version)
		}
		assert.NoError(t, <-put)
	})
}

// TestWaitForKeyVersion: the wait ends when the informer reflects a write to one cluster.
func TestWaitForKeyVersion(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		w := newWorld(t, []string{"east", "west"})
		w.list("east", 5, at("a", 1))
		w.list("west", 500, at("a", 1))
		w.next()
		key := fleet.Key("east", "ns", "a")
		require.NoError(t, w.WaitForKeyVersion(t.Context(), key, "5"))
		seen := make(chan error, 1)
		go func() { seen <- w.WaitForKeyVersion(t.Context(), key, "7") }()
		sinktest.Put(w.of("west"), at("a", 501), "501")
		synctest.Wait()
		require.Empty(t, seen, "that is another cluster's version")
		sinktest.Put(w.of("east"), at("a", 7), "7")
		synctest.Wait()
		require.Len(t, seen, 1)
		assert.NoError(t, <-seen)
	})
}
