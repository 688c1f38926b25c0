package typed_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/internal/rig"
)

// told is a follower that notes the calls of its methods, but for reports.
type told struct{ calls []string }

func (f *told) Begin(objects *index.Snapshot[*rig.Thing]) {
	f.calls = append(f.calls, fmt.Sprint("begin with ", objects.Len()))
}

func (f *told) Step(events []typed.Event[*rig.Thing], version string) {
	f.calls = append(f.calls, fmt.Sprintf("%d events to %s", len(events), version))
}

func (f *told) Synced()      { f.calls = append(f.calls, "synced") }
func (f *told) Report(error) {}

func (f *told) End(cause error) {
	f.calls = append(f.calls, fmt.Sprint("end, released: ", errors.Is(cause, index.ErrReleased)))
}

// TestFollowersOfASharedInformer: a follower is told until it is removed, and not of what
// comes afterwards; or until its use of the informer is released.
func TestFollowersOfASharedInformer(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		shop := newShop(t)
		first, second := shop.share("x"), shop.share("x")
		sink := shop.sink()
		sink.Replace("", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		removed, left := &told{}, &told{}
		unfollow, err := first.Follow(removed)
		require.NoError(t, err)
		_, err = first.Follow(left)
		require.NoError(t, err)
		sink.Put(rig.At("a", 2), "2")
		synctest.Wait()
		unfollow()
		unfollow()
		sink.Put(rig.At("a", 3), "3")
		synctest.Wait()
		first.Release()
		sink.Put(rig.At("a", 4), "4")
		synctest.Wait()
		unfollow()

		assert.Equal(t, []string{"begin with 1", "synced", "1 events to 2"}, removed.calls)
		assert.Equal(t, []string{"begin with 1", "synced", "1 events to 2", "1 events to 3", "end, released: true"}, left.calls)
		_, err = first.Follow(left)
		assert.ErrorIs(t, err, index.ErrReleased)
		second.Release()
	})
}
