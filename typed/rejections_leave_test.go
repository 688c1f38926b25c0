package typed_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
)

// TestRejectedInARemovedNamespace is forgotten with it, even if the list that it was in never ends.
func TestRejectedInARemovedNamespace(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, rejectPoison())
		r.Start()
		sinktest.Replace(r.Sink, "", things("a", "b"), "2")
		key := rig.Key("a")
		r.Sink.Stage(poison("a", 5), "5")
		synctest.Wait()
		require.NotNil(t, r.Rejected(key))
		sinktest.RemoveNamespace(r.Sink, key.Namespace, "6")
		synctest.Wait()
		assert.Zero(t, r.Len())
		assert.Nil(t, r.Rejected(key))
		assert.Zero(t, r.Status().RejectedNow)
	})
}

// TestChangedOnlyAfterARestore: another object of the version is a change.
func TestChangedOnlyAfterARestore(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, typed.WithChangedOnly())
		r.Start()
		old, anew := rig.At("a", 120), rig.At("a", 120)
		old.UID, anew.UID = "1", "2"
		sinktest.Replace(r.Sink, "", []*rig.Thing{old}, "150")
		sinktest.Replace(r.Sink, "", []*rig.Thing{anew}, "121")
		synctest.Wait()
		got, _ := r.Get(rig.Key("a"))
		assert.Same(t, anew, got)
	})
}
