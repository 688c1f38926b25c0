package typed_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
)

// manyWatches is a script that has a watch for each object.
type manyWatches struct {
	*rig.Script
	mu sync.Mutex
	at map[index.Key]string // guarded by mu
}

func (s *manyWatches) At(key index.Key) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[key]
}

// reach has the watch of an object be at a version.
func (s *manyWatches) reach(r *rig.Rig, name string, version int) {
	s.mu.Lock()
	s.at[rig.Key(name)] = fmt.Sprint(version)
	s.mu.Unlock()
	r.Sink.Step(nil, "", nil)
}

func newManyWatches(t *testing.T, opts ...typed.Option) (*manyWatches, *rig.Rig) {
	s := &manyWatches{Script: rig.NewScript(), at: map[index.Key]string{}}
	return s, rig.Over(t, s.Script, s, opts...)
}

func done(err chan error) bool {
	synctest.Wait()
	return len(err) > 0
}

// TestWaitForKeyVersion waits for the watch of one object, whatever others do.
func TestWaitForKeyVersion(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		s, r := newManyWatches(t)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 1)}, "1")
		s.reach(r, "a", 1)
		s.reach(r, "b", 1)
		ctx, giveUp := context.WithCancel(t.Context())
		wait := func(name, version string) chan error {
			result := make(chan error, 1)
			go func() { result <- r.WaitForKeyVersion(ctx, rig.Key(name), version) }()
			return result
		}
		a, b, later, unknown := wait("a", "5"), wait("b", "5"), wait("a", "6"), wait("c", "4")
		require.False(t, done(a))
		sinktest.Put(r.Sink, rig.At("a", 5), "")
		assert.False(t, done(a), "the source has not said that it is at the version")
		s.reach(r, "a", 5)
		assert.True(t, done(a))
		assert.NoError(t, <-a)
		assert.NoError(t, r.WaitForKeyVersion(ctx, rig.Key("a"), "5"), "it is there")
		assert.False(t, done(b) || done(later) || done(unknown))
		sinktest.Bookmark(r.Sink, "5")
		assert.True(t, done(b) && done(unknown), "the slowest watch is there, too")
		assert.NoError(t, <-b)
		assert.NoError(t, <-unknown)

		assert.False(t, done(later))
		giveUp()
		assert.ErrorIs(t, <-later, context.Canceled)
		assert.ErrorContains(t, r.WaitForKeyVersion(t.Context(), rig.Key("a"), "soon"), `"soon" is not a positive number`)
		stopped := make(chan error, 1)
		go func() { stopped <- r.WaitForKeyVersion(t.Context(), rig.Key("a"), "9") }()
		require.False(t, done(stopped))
		r.Stop()
		assert.ErrorIs(t, <-stopped, typed.ErrStopped)
	})
}

// TestWaitForKeyVersionIsNotEarly: what the source has reported may not be in the store yet.
func TestWaitForKeyVersionIsNotEarly(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		hold := make(chan struct{})
		s, r := newManyWatches(t)
		byVersion := index.New("slow", func(o *rig.Thing) []string {
			if o.String() == "a@5" {
				<-hold
			}
			return nil
		})
		require.NoError(t, r.AddIndexes(byVersion))
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		sinktest.Put(r.Sink, rig.At("a", 5), "")
		s.reach(r, "a", 5)
		queued := make(chan error, 1)
		e, err := r.ExpectKeyVersion(rig.Key("a"), "5")
		require.NoError(t, err)
		go func() { queued <- r.WaitForKeyVersion(t.Context(), rig.Key("a"), "5") }()
		assert.False(t, done(queued))
		assert.False(t, e.Met())
		close(hold)
		assert.NoError(t, <-queued)
		assert.True(t, e.Met())
		got, _ := r.Get(rig.Key("a"))
		assert.Equal(t, "a@5", got.String())
	})
}

// TestWaitForDeletionOfAKey: a deletion is known when the watch of the object tells it.
func TestWaitForDeletionOfAKey(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		s, r := newManyWatches(t)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 1)}, "1")
		s.reach(r, "a", 1)
		written := rig.At("a", 5) // a state that the watch has not told yet
		gone := make(chan error, 1)
		go func() { gone <- r.WaitForDeletion(t.Context(), written) }()
		assert.False(t, done(gone))
		sinktest.Put(r.Sink, written, "")
		s.reach(r, "a", 5)
		assert.False(t, done(gone))
		sinktest.Delete(r.Sink, rig.At("a", 7), "")
		assert.True(t, done(gone))
		assert.NoError(t, <-gone)
	})
}

// TestExpectationsOfKeys: a version of all covers that of one key, and no key another one.
func TestExpectationsOfKeys(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		_, r := newManyWatches(t)
		of := func(name, version string) typed.Expected {
			e, err := r.ExpectKeyVersion(rig.Key(name), version)
			require.NoError(t, err)
			return e
		}
		all, err := r.ExpectVersion("5")
		require.NoError(t, err)
		a := of("a", "5")
		assert.True(t, all.Covers(a))
		assert.True(t, a.Covers(of("a", "4")))
		assert.False(t, a.Covers(all))
		assert.False(t, a.Covers(of("b", "4")))
		assert.False(t, a.Covers(of("a", "6")))
		assert.Contains(t, a.String(), `version 5 of "ns/a", is at ""`)
		plain := rig.New(t)
		e, err := plain.ExpectKeyVersion(rig.Key("a"), "5")
		require.NoError(t, err)
		other, err := plain.ExpectVersion("4")
		require.NoError(t, err)
		assert.True(t, e.Covers(other), "a source of one watch has one version")
	})
}
