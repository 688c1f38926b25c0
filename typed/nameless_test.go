package typed_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
)

// TestObjectsWithoutName: whatever the source is, and whatever a transform makes
// of names, an object without one is left out and reported, since all of them
// would be one object.
func TestObjectsWithoutName(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, typed.WithTransform(func(o *rig.Thing) (*rig.Thing, error) {
			if o.Name == "loses its name" {
				o.Name = ""
			}
			return o, nil
		}))
		rec := r.Record()
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("", 1), rig.At("a", 2), rig.At("loses its name", 3)}, "3")
		sinktest.Put(r.Sink, rig.At("", 4), "4")
		sinktest.Put(r.Sink, rig.At("loses its name", 5), "5")
		sinktest.Delete(r.Sink, rig.At("", 6), "6")
		sinktest.Replace(r.Sink, "ns", []*rig.Thing{rig.At("", 7), rig.At("a", 8)}, "8")
		assert.Equal(t, []string{"initial a@2", "update a@2 a@8"}, rec.Next())
		assert.Equal(t, 1, r.Len())
		assert.Equal(t, 6, r.Status().Rejected)
		assert.Equal(t, index.Key{Namespace: "ns"}, r.Status().LastRejected.Key)
		assert.ErrorContains(t, r.Status().LastRejected, "object has no name")
	})
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, typed.WithNameless())
		rec := r.Record()
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("", 1)}, "3")
		sinktest.Put(r.Sink, rig.At("", 4), "4")
		assert.Equal(t, []string{"initial @1", "update @1 @4"}, rec.Next())
		assert.Zero(t, r.Status().Rejected)
	})
}
