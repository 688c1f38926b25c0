package view_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/view"
)

// TestTransformOverAView: a transform modifies its own copies, and not the objects of the view's
// inputs, when they are first there, when they change and when they are gone.
func TestTransformOverAView(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		dropped := func(name string) *thing { return labeled(name, 1, labels.Set{"drop": "me"}) }
		given := []*thing{dropped("a"), dropped("b"), dropped("b")}
		all := view.NewSet(given[0])
		stripped := start(t, view.Filter(all.View(), func(*thing) bool { return true }), typed.WithTransform(func(x *thing) (*thing, error) {
			delete(x.labels, "drop")
			return x, nil
		}))
		plain := start(t, view.Filter(all.View(), func(*thing) bool { return true }))
		synctest.Wait()
		all.Put(given[1])
		synctest.Wait()
		all.Put(given[2])
		synctest.Wait()
		require.Equal(t, 2, stripped.Len())
		for x := range stripped.All() {
			assert.Empty(t, x.labels)
		}
		all.Delete(index.KeyOf(given[0]))
		synctest.Wait()
		require.Equal(t, 1, stripped.Len())
		for _, x := range given {
			assert.Equal(t, "me", x.labels["drop"])
		}
		kept, _ := plain.Get(index.KeyOf(given[2]))
		assert.Same(t, given[2], kept, "without a transform there is one object")
	})
}

// TestTransformOfAViewOfValues: a value is copied when it is passed, and Run rejects objects that
// cannot be copied.
func TestTransformOfAViewOfValues(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		things := named("a")
		values := start(t, versions(things.View()), typed.WithTransform(func(r row) (row, error) {
			r.value = "transformed"
			return r, nil
		}))
		checkRows(t, values, "a=transformed")
	})
	never := typed.NewInformer(named("a").View(), typed.WithTransform(func(obj *rig.Thing) (*rig.Thing, error) { return obj, nil }))
	assert.ErrorContains(t, never.Run(t.Context()), "has no method DeepCopy")
}
