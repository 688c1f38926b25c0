package workload

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/e2e/cluster"
)

// TestServersMatchThePods creates Pods on an API server and compares them with those of package
// pods.
func TestServersMatchThePods(t *testing.T) {
	c, err := cluster.Start(t.Context())
	require.NoError(t, err)
	defer func() { assert.NoError(t, c.Stop()) }()
	client := kubernetes.NewForConfigOrDie(c.Config())
	objects := Objects{Namespaces: []string{"default", "kube-system"}, Nodes: 5, PerApp: 10}
	crew := Crew{Workers: 4, Out: t.Output()}
	require.NoError(t, objects.CreatePods(t.Context(), crew, 40, client.CoreV1().Pods))

	list, err := client.CoreV1().Pods(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 40)
	size := 0
	for i := range 40 {
		want := objects.whole(i, 1)
		pod, err := client.CoreV1().Pods(want.Namespace).Get(t.Context(), want.Name, metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, want.Labels, pod.Labels)
		assert.Equal(t, want.Annotations, pod.Annotations)
		assert.Equal(t, want.OwnerReferences, pod.OwnerReferences)
		assert.Equal(t, want.Status.PodIP, pod.Status.PodIP)
		assert.Equal(t, want.Spec.NodeName, pod.Spec.NodeName)
		assert.Equal(t, want.Spec.Volumes, pod.Spec.Volumes, "nothing is added")
		assert.Equal(t, want.Spec.Tolerations, pod.Spec.Tolerations)
		assert.Len(t, pod.Status.ContainerStatuses, len(want.Spec.Containers))
		require.Len(t, pod.ManagedFields, len(want.ManagedFields))
		for j, entry := range want.ManagedFields {
			assert.Equal(t, entry.Manager, pod.ManagedFields[j].Manager)
		}
		assert.NotContains(t, pod.ManagedFields[0].FieldsV1.String(), "kube-api-access", "what admission adds is nobody's")
		assert.Contains(t, pod.ManagedFields[2].FieldsV1.String(), pod.Status.PodIP)
		size += pod.Size()
	}
	assert.InDelta(t, 5_600, size/40, 500, "bytes of protobuf")

	updated, err := objects.UpdatePod(t.Context(), 7, 2, client.CoreV1().Pods)
	require.NoError(t, err)
	assert.Equal(t, corev1.ConditionFalse, conditionOf(updated, corev1.PodReady).Status)
	updated, err = objects.UpdatePod(t.Context(), 7, 3, client.CoreV1().Pods)
	require.NoError(t, err)
	ready := conditionOf(updated, corev1.PodReady)
	assert.Equal(t, corev1.ConditionTrue, ready.Status)
	assert.Empty(t, ready.Reason)
	assert.Len(t, updated.Status.Conditions, 5)
}

func conditionOf(pod *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}
