package typed_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
)

// TestExpected watches for a version and for a deletion, and looks at what the
// informer keeps of that.
func TestExpected(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, typed.WithName("things"))
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		version, err := r.ExpectVersion("5")
		require.NoError(t, err)
		earlier, err := r.ExpectVersion("4")
		require.NoError(t, err)
		deleted, err := r.ExpectDeleted(rig.At("a", 1))
		require.NoError(t, err)
		assert.Equal(t, `informer things: version 5, is at "1"`, version.String())
		assert.Equal(t, `informer things: deletion of "ns/a" with UID a, is at "1"`, deleted.String())
		assert.True(t, version.Covers(earlier))
		assert.False(t, earlier.Covers(version))
		assert.False(t, version.Covers(deleted))

		looks := map[typed.Expected]int{}
		for _, e := range []typed.Expected{version, deleted} {
			assert.False(t, e.Met())
			e.Watch(func() { looks[e]++ })
		}
		sinktest.Put(r.Sink, rig.At("a", 2), "2")
		synctest.Wait()
		assert.False(t, version.Met())
		assert.False(t, deleted.Met())
		sinktest.Delete(r.Sink, rig.At("a", 5), "5")
		synctest.Wait()
		assert.True(t, version.Met())
		assert.True(t, deleted.Met())
		assert.Equal(t, 1, looks[version])
		assert.Positive(t, looks[deleted])
		version.Unwatch()
		deleted.Unwatch()
		versions, deletions := r.Awaited()
		assert.Zero(t, versions+deletions)
	})
}

// TestExpectedOfAnInformerThatStops: what is expected is met, as nothing more will be
// seen.
func TestExpectedOfAnInformerThatStops(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		e, err := r.ExpectDeleted(rig.At("a", 1))
		require.NoError(t, err)
		looks := 0
		e.Watch(func() { looks++ })
		r.Stop()
		synctest.Wait()
		assert.True(t, e.Met())
		assert.Positive(t, looks)
		e.Unwatch()
		versions, deletions := r.Awaited()
		assert.Zero(t, versions+deletions)
	})
}

// TestWaitForDeletion waits until an object is gone, or another one, or is marked.
func TestWaitForDeletion(t *testing.T) {
	for name, seen := range map[string]func(r *rig.Rig){
		"gone":    func(r *rig.Rig) { sinktest.Delete(r.Sink, rig.At("a", 5), "5") },
		"missed":  func(r *rig.Rig) { sinktest.Replace(r.Sink, "", nil, "5") },
		"another": func(r *rig.Rig) { o := rig.At("a", 5); o.UID = "another"; sinktest.Put(r.Sink, o, "5") },
		"marked":  func(r *rig.Rig) { o := rig.At("a", 5); o.Deleted = &metav1.Time{}; sinktest.Put(r.Sink, o, "5") },
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				r := rig.New(t)
				r.Start()
				sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
				synctest.Wait()
				waited := make(chan error, 1)
				go func() { waited <- r.WaitForDeletion(t.Context(), rig.At("a", 1)) }()
				synctest.Wait()
				sinktest.Put(r.Sink, rig.At("a", 3), "3")
				sinktest.Delete(r.Sink, rig.At("b", 4), "4")
				synctest.Wait()
				assert.Empty(t, waited)
				seen(r)
				assert.NoError(t, <-waited)
				assert.NoError(t, r.WaitForDeletion(t.Context(), rig.At("a", 1)), "again")
				versions, deletions := r.Awaited()
				assert.Zero(t, versions+deletions)
			})
		})
	}
}

// TestWaitForDeletionInVain says why.
func TestWaitForDeletionInVain(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, typed.WithName("things"))
		early, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		assert.ErrorIs(t, r.WaitForDeletion(early, rig.At("a", 1)), typed.ErrNotStarted)
		assert.ErrorContains(t, r.WaitForDeletion(t.Context(), nil), "object is nil")
		assert.ErrorContains(t, r.WaitForDeletion(t.Context(), (*rig.Thing)(nil)), "object is nil")
		nameless := rig.At("a", 1)
		nameless.UID = ""
		assert.ErrorContains(t, r.WaitForDeletion(t.Context(), nameless), "the object has no UID")
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := r.WaitForDeletion(ctx, rig.At("a", 1))
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, `waited for informer things: deletion of "ns/a" with UID a, is at "1"`)
		waited := make(chan error, 1)
		go func() { waited <- r.WaitForDeletion(t.Context(), rig.At("a", 1)) }()
		synctest.Wait()
		r.Stop()
		assert.ErrorIs(t, <-waited, typed.ErrStopped)
		assert.ErrorIs(t, r.WaitForDeletion(t.Context(), rig.At("a", 1)), typed.ErrStopped, "at once")
	})
}

// TestReleaseMeetsAnExpectedDeletion: the informer stops and is released while Met asks
// the source for a version.
func TestReleaseMeetsAnExpectedDeletion(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		s := &endingWatches{Script: rig.NewScript()}
		r := rig.Over(t, s.Script, s)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		e, err := r.ExpectDeleted(rig.At("a", 5))
		require.NoError(t, err)
		s.end = func() {
			r.Stop()
			synctest.Wait()
			assert.NoError(t, r.Release())
		}
		assert.NotPanics(t, func() { assert.True(t, e.Met()) })
	})
}

// endingWatches is a script that reports versions of keys, and calls end before it reports a later
// one than the first.
type endingWatches struct {
	*rig.Script
	end func()
}

func (s *endingWatches) At(index.Key) string {
	if s.end == nil {
		return "1"
	}
	s.end()
	return "9"
}

// TestDeletionExpectedAfterAnEarlierVersion: the informer comes to the version, goes back to an
// earlier one by a list, and sees the deletion before it comes to the version again.
func TestDeletionExpectedAfterAnEarlierVersion(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 4)}, "4")
		synctest.Wait()
		result := make(chan error, 1)
		go func() { result <- r.WaitForDeletion(t.Context(), rig.At("a", 5)) }()
		synctest.Wait()
		sinktest.Put(r.Sink, rig.At("a", 5), "5")
		synctest.Wait()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 4)}, "4")
		synctest.Wait()
		sinktest.Delete(r.Sink, rig.At("a", 4), "4")
		synctest.Wait()
		sinktest.Bookmark(r.Sink, "6")
		synctest.Wait()
		require.Len(t, result, 1)
		assert.NoError(t, <-result)
	})
}

// TestWaitForDeletionOfARejectedObject: an object that was never stored is gone for reads, and Rejected says
// why.
func TestWaitForDeletionOfARejectedObject(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, rejectPoison())
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		sinktest.Put(r.Sink, poison("bad", 2), "2")
		sinktest.Put(r.Sink, rig.At("a", 3), "3")
		synctest.Wait()
		assert.NotNil(t, r.Rejected(rig.Key("bad")))
		_, ok := r.Get(rig.Key("bad"))
		assert.False(t, ok)
		assert.NoError(t, r.WaitForDeletion(t.Context(), rig.At("bad", 2)))
	})
}
