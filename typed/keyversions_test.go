package typed_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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

	asked atomic.Int64 // how often
}

func (s *manyWatches) At(key index.Key) string {
	s.asked.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[key]
}

// reach moves the watch of an object to a version.
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

// TestWaitForDeletionOfAKey: the wait ends when the watch of the object delivers the deletion.
func TestWaitForDeletionOfAKey(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		s, r := newManyWatches(t)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 1)}, "1")
		s.reach(r, "a", 1)
		written := rig.At("a", 5) // a state that the watch has not delivered yet
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

// TestManyWaitersOfKeys: an event costs as much as there are who wait for its object, and not
// as there are who wait at all. Those whose objects nothing is reported of are asked by time.
func TestManyWaitersOfKeys(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		const waiters, events = 1000, 500
		s, r := newManyWatches(t)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		s.reach(r, "a", 1)
		var mu sync.Mutex
		met := map[typed.Expected]bool{}
		count := func() int {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return len(met)
		}
		expect := func(name, version string) typed.Expected {
			s.mu.Lock()
			s.at[rig.Key(name)] = "1"
			s.mu.Unlock()
			e, err := r.ExpectKeyVersion(rig.Key(name), version)
			require.NoError(t, err)
			e.Watch(func() {
				if e.Met() {
					mu.Lock()
					met[e] = true
					mu.Unlock()
				}
			})
			return e
		}
		for i := range waiters {
			expect(fmt.Sprint("waits-", i), "5000")
		}
		one := expect("a", "700")
		for range 10 { // they are new
			s.reach(r, "b", 1)
			synctest.Wait()
		}
		asked := s.asked.Load()
		for i := range events {
			sinktest.Put(r.Sink, rig.At("a", 200+i), "")
			s.reach(r, "a", 200+i)
			synctest.Wait()
		}
		assert.Less(t, s.asked.Load()-asked, int64(10*events), "of %d who wait", waiters)
		assert.False(t, one.Met())
		sinktest.Put(r.Sink, rig.At("a", 700), "")
		synctest.Wait()
		s.reach(r, "a", 700)
		synctest.Wait()
		assert.Equal(t, 1, count(), "at once")
		s.reach(r, "waits-7", 5000) // without an event
		assert.Equal(t, 1, count())
		time.Sleep(100 * time.Millisecond)
		assert.Equal(t, 2, count())
		one.Unwatch()
		r.Stop()
		assert.Equal(t, waiters+1, count(), "nothing more is heard")
	})
}

// BenchmarkEventsAndWaiters is what an event costs while many wait for other objects.
func BenchmarkEventsAndWaiters(b *testing.B) {
	for _, waiters := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("waiters=%d", waiters), func(b *testing.B) {
			s := &manyWatches{Script: rig.NewScript(), at: map[index.Key]string{rig.Key("a"): "1"}}
			informer := typed.NewInformer[*rig.Thing](s)
			go func() { _ = informer.Run(b.Context()) }()
			sink := <-s.Started
			sinktest.Replace(sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
			for i := range waiters {
				key := rig.Key(fmt.Sprint("waits-", i))
				s.mu.Lock()
				s.at[key] = "1"
				s.mu.Unlock()
				e, err := informer.ExpectKeyVersion(key, "5000000000")
				require.NoError(b, err)
				e.Watch(func() {})
			}
			b.ReportAllocs()
			for n := 2; b.Loop(); n++ {
				done := make(chan struct{})
				sink.Step([]index.Change[*rig.Thing]{{Object: rig.At("a", n)}}, "", func() { close(done) })
				<-done
			}
		})
	}
}
