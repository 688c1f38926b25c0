package view_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/view"
)

// TestTransformOverAView: a transform modifies its own copies, and not the objects of the view's
// inputs, when they are first there, when they change and when they are gone.
func TestTransformOverAView(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		annotated := func(name string) *corev1.Pod {
			pod := rig.NewPod(name, "n")
			pod.Annotations = map[string]string{"drop": "me"}
			return pod
		}
		given := []*corev1.Pod{annotated("a"), annotated("b"), annotated("b")}
		pods := view.NewSet(given[0])
		stripped := start(t, view.Filter(pods.View(), func(*corev1.Pod) bool { return true }), typed.WithTransform(kube.StripAnnotations[*corev1.Pod]("drop")))
		plain := start(t, view.Filter(pods.View(), func(*corev1.Pod) bool { return true }))
		synctest.Wait()
		pods.Put(given[1])
		synctest.Wait()
		pods.Put(given[2])
		synctest.Wait()
		require.Equal(t, 2, stripped.Len())
		for pod := range stripped.All() {
			assert.Empty(t, pod.Annotations)
		}
		pods.Delete(index.KeyOf(given[0]))
		synctest.Wait()
		require.Equal(t, 1, stripped.Len())
		for _, pod := range given {
			assert.Equal(t, "me", pod.Annotations["drop"])
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
