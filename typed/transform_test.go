package typed_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kubetyped/informer/typed"
)

func TestTransformsFollowOneAnother(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		mark := func(node string) typed.Option {
			return typed.WithTransform(func(o *thing) (*thing, error) {
				switch {
				case o.name == "nil" && node == "-1":
					return nil, nil
				case o.name == "bad" && node == "-1":
					return nil, assert.AnError
				case o.name == "bad" || o.name == "nil":
					t.Error("called after an error")
				}
				return on(o.node+node, o), nil
			})
		}
		r := newRig(t, mark("-1"), mark("-2"), mark("-3"))
		r.run()
		r.sink.Replace([]*thing{on("n", at("a", 1)), at("bad", 2), at("nil", 3)}, "3")
		synctest.Wait()
		assert.Equal(t, "n-1-2-3", mustGet(t, r, "a").node)
		assert.Equal(t, 1, r.Len())
		assert.Equal(t, 2, r.Status().Rejected)
	})
}

// named is an interface that things implement.
type named interface {
	GetNamespace() string
	GetName() string
}

func TestTransformOfAnInterface(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, typed.WithTransform(func(o named) (named, error) {
			switch o.GetName() {
			case "other":
				return placement{"ns", "other", ""}, nil
			case "nil":
				return nil, nil
			case "bad":
				return nil, assert.AnError
			}
			return on("seen", o.(*thing)), nil
		}))
		r.run()
		r.sink.Replace([]*thing{at("a", 1), at("other", 2)}, "2")
		synctest.Wait()
		assert.Equal(t, "seen", mustGet(t, r, "a").node)
		assert.ErrorContains(t, r.Status().LastRejected, "the transform function has made a typed_test.placement of it")
		r.sink.Update(at("nil", 3), "3")
		assert.ErrorContains(t, r.Status().LastRejected, "it is nil")
		r.sink.Update(at("bad", 4), "4")
		assert.ErrorIs(t, r.Status().LastRejected, assert.AnError)
		synctest.Wait()
		assert.Equal(t, 1, r.Len())
	})
}

// TestStrip reads pods, and the same as unstructured objects, without what they
// need not have.
func TestStrip(t *testing.T) {
	t.Parallel()
	pod := newPod("a", "n1")
	pod.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "{…}", "kept": "yes"}
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	bare := newPod("b", "n1")
	bare.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "{…}"}
	plain := newPod("c", "n1")
	plain.Annotations = map[string]string{"kept": "yes"}
	pods := typed.NewInformer(
		typed.FromClient(fake.NewClientset(pod, bare, plain).CoreV1().Pods("")),
		typed.WithTransform(typed.StripManagedFields[metav1.Object]),
		typed.WithTransform(typed.StripAnnotations[*corev1.Pod](corev1.LastAppliedConfigAnnotation, "absent")),
	)
	require.NoError(t, pods.WaitForSync(start(t, pods)))
	for p := range pods.All() {
		assert.Empty(t, p.ManagedFields)
		if p.Name == "b" {
			assert.Nil(t, p.Annotations)
		} else {
			assert.Equal(t, map[string]string{"kept": "yes"}, p.Annotations)
		}
	}

	object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{
		"annotations":   map[string]any{"a": "1", "b": "2"},
		"managedFields": []any{map[string]any{"manager": "kubectl"}},
	}}}
	object, err := typed.StripManagedFields(object)
	require.NoError(t, err)
	object, err = typed.StripAnnotations[*unstructured.Unstructured]("a")(object)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"b": "2"}}}, object.Object)
}
