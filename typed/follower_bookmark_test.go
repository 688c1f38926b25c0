package typed_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
)

// busyFollower is a follower during whose Begin something happens.
type busyFollower struct {
	followed
	meanwhile func()
}

func (f *busyFollower) Begin(objects *index.Snapshot[*rig.Thing]) {
	f.followed.Begin(objects)
	f.meanwhile()
}

// TestBookmarkWhileAFollowerBegins: the follower receives the version, since a wait for it would
// otherwise last until the next one.
func TestBookmarkWhileAFollowerBegins(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", things("a"), "1")
		synctest.Wait()
		f := &busyFollower{meanwhile: func() {
			sinktest.Bookmark(r.Sink, "2")
			synctest.Wait()
		}}
		_, err := r.Follow(f)
		require.NoError(t, err)
		assert.Contains(t, f.next(), `step at "2"`)
		assert.Equal(t, "2", r.ResourceVersion())
	})
}
