package typed_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// TestObjectsWithoutName: whatever the source is, and whatever a transform makes
// of names, an object without one is left out and reported, since all of them
// would be one object.
func TestObjectsWithoutName(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, typed.WithTransform(func(o *thing) (*thing, error) {
			if o.name == "loses its name" {
				o.name = ""
			}
			return o, nil
		}))
		rec := r.handle()
		r.run()
		r.sink.Replace([]*thing{at("", 1), at("a", 2), at("loses its name", 3)}, "3")
		r.sink.Add(at("", 4), "4")
		r.sink.Update(at("loses its name", 5), "5")
		r.sink.Delete(at("", 6), "6")
		r.sink.ReplaceNamespace("ns", []*thing{at("", 7), at("a", 8)}, "8")
		assert.Equal(t, []string{"initial a@2", "update a@2 a@8"}, rec.next())
		assert.Equal(t, 1, r.Len())
		assert.Equal(t, 6, r.Status().Rejected)
		assert.Equal(t, index.Key{Namespace: "ns"}, r.Status().LastRejected.Key)
		assert.ErrorContains(t, r.Status().LastRejected, "it has no name")
	})
	inBubble(t, func(t *testing.T) {
		r := newRig(t, typed.WithNameless())
		rec := r.handle()
		r.run()
		r.sink.Replace([]*thing{at("", 1)}, "3")
		r.sink.Update(at("", 4), "4")
		assert.Equal(t, []string{"initial @1", "update @1 @4"}, rec.next())
		assert.Zero(t, r.Status().Rejected)
	})
}
