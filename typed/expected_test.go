package typed_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/internal/rig"
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
