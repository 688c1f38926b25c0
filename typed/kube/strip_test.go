package kube_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

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
		kube.FromClient(fake.NewClientset(pod, bare, plain).CoreV1().Pods("")),
		typed.WithTransform(kube.StripManagedFields[metav1.Object]),
		typed.WithTransform(kube.StripAnnotations[*corev1.Pod](corev1.LastAppliedConfigAnnotation, "absent")),
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
	object, err := kube.StripManagedFields(object)
	require.NoError(t, err)
	object, err = kube.StripAnnotations[*unstructured.Unstructured]("a")(object)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"b": "2"}}}, object.Object)
}
