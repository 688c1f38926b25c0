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
	"github.com/kubetyped/informer/typed/internal/rig"
)

func TestTransformsFollowOneAnother(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		mark := func(node string) typed.Option {
			return typed.WithTransform(func(o *rig.Thing) (*rig.Thing, error) {
				switch {
				case o.Name == "nil" && node == "-1":
					return nil, nil
				case o.Name == "bad" && node == "-1":
					return nil, assert.AnError
				case o.Name == "bad" || o.Name == "nil":
					t.Error("called after an error")
				}
				return rig.On(o.Node+node, o), nil
			})
		}
		r := rig.New(t, mark("-1"), mark("-2"), mark("-3"))
		r.Start()
		r.Sink.Replace([]*rig.Thing{rig.On("n", rig.At("a", 1)), rig.At("bad", 2), rig.At("nil", 3)}, "3")
		synctest.Wait()
		assert.Equal(t, "n-1-2-3", mustGet(t, r, "a").Node)
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
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, typed.WithTransform(func(o named) (named, error) {
			switch o.GetName() {
			case "other":
				return rig.Placement{Namespace: "ns", Name: "other", Node: ""}, nil
			case "nil":
				return nil, nil
			case "bad":
				return nil, assert.AnError
			}
			return rig.On("seen", o.(*rig.Thing)), nil
		}))
		r.Start()
		r.Sink.Replace([]*rig.Thing{rig.At("a", 1), rig.At("other", 2)}, "2")
		synctest.Wait()
		assert.Equal(t, "seen", mustGet(t, r, "a").Node)
		assert.ErrorContains(t, r.Status().LastRejected, "the transform function has made a rig.Placement of it")
		r.Sink.Update(rig.At("nil", 3), "3")
		assert.ErrorContains(t, r.Status().LastRejected, "it is nil")
		r.Sink.Update(rig.At("bad", 4), "4")
		assert.ErrorIs(t, r.Status().LastRejected, assert.AnError)
		synctest.Wait()
		assert.Equal(t, 1, r.Len())
	})
}

// TestStrip reads pods, and the same as unstructured objects, without what they
// need not have.
func TestStrip(t *testing.T) {
	t.Parallel()
	pod := rig.NewPod("a", "n1")
	pod.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "{…}", "kept": "yes"}
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	bare := rig.NewPod("b", "n1")
	bare.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "{…}"}
	plain := rig.NewPod("c", "n1")
	plain.Annotations = map[string]string{"kept": "yes"}
	pods := typed.NewInformer(
		typed.FromClient(fake.NewClientset(pod, bare, plain).CoreV1().Pods("")),
		typed.WithTransform(typed.StripManagedFields[metav1.Object]),
		typed.WithTransform(typed.StripAnnotations[*corev1.Pod](corev1.LastAppliedConfigAnnotation, "absent")),
	)
	require.NoError(t, pods.WaitForSync(rig.Start(t, pods)))
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
