package typed_test

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
)

// Many calls wait for versions, in no order, and some give up: the others return in time, and
// nothing is left.
func TestManyWaitForVersions(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		const waits = 200
		r := rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", nil, "1")
		synctest.Wait()
		random := rand.New(rand.NewPCG(1, 2))
		versions := random.Perm(waits)
		results := make([]chan error, waits)
		giveUp := make([]context.CancelFunc, waits)
		for _, v := range versions {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			results[v], giveUp[v] = make(chan error, 1), cancel
			go func() { results[v] <- r.WaitForResourceVersion(ctx, strconv.Itoa(v+2)) }()
		}
		synctest.Wait()
		for v := 0; v < waits; v += 3 {
			giveUp[v]()
		}
		for v := range waits {
			synctest.Wait()
			if v%3 == 0 {
				assert.ErrorIs(t, <-results[v], context.Canceled)
			} else {
				require.Empty(t, results[v], "version %d", v)
			}
			sinktest.Bookmark(r.Sink, strconv.Itoa(v+2))
			if v%3 != 0 {
				assert.NoError(t, <-results[v])
			}
		}
		synctest.Wait()
		left, _ := r.Awaited()
		assert.Zero(t, left)
	})
}

// A wait has been worth it even if the informer goes back right after.
func TestWaitForAVersionThatGoesBack(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		r.Start()
		for range 200 {
			sinktest.Replace(r.Sink, "", nil, "5")
			synctest.Wait()
			waited := make(chan error)
			go func() { waited <- r.WaitForResourceVersion(t.Context(), "10") }()
			synctest.Wait()
			sinktest.Bookmark(r.Sink, "10")
			sinktest.Replace(r.Sink, "", nil, "5")
			assert.NoError(t, <-waited)
		}
	})
}

// A call that waits for a version when the informer stops returns ErrStopped, though the stop wakes
// all waiting calls.
func TestWaitForAVersionThatDoesNotCome(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", nil, "5")
		synctest.Wait()
		waited := make(chan error)
		go func() { waited <- r.WaitForResourceVersion(t.Context(), "10") }()
		synctest.Wait()
		r.Stop()
		assert.ErrorIs(t, <-waited, typed.ErrStopped)
	})
}

// TestWaitFromVersionZero waits while the informer is at the version that lists of fakes have.
func TestWaitFromVersionZero(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", nil, "0")
		synctest.Wait()
		waited := make(chan error, 1)
		go func() { waited <- r.WaitForResourceVersion(t.Context(), "3") }()
		synctest.Wait()
		assert.Empty(t, waited)
		sinktest.Put(r.Sink, rig.At("a", 3), "3")
		assert.NoError(t, <-waited)
	})
}
