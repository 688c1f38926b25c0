package workload

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

func TestPodsAreTheSameEachTimeAndSpread(t *testing.T) {
	objects := Objects{Namespaces: []string{"a", "b", "c", "d"}, Nodes: 7, PerApp: 20}
	names, namespaces, nodes, appNames := sets.New[string](), sets.New[string](), sets.New[string](), sets.New[string]()
	const pods = 1000
	for i := range pods {
		pod := objects.Pod(i)
		require.Equal(t, pod, objects.Pod(i))
		names.Insert(pod.Namespace + "/" + pod.Name)
		namespaces.Insert(pod.Namespace)
		nodes.Insert(pod.Spec.NodeName)
		appNames.Insert(pod.Labels[AppLabel])
	}
	assert.Len(t, names, pods)
	assert.Len(t, namespaces, len(objects.Namespaces))
	assert.Len(t, nodes, objects.Nodes)
	assert.Len(t, appNames, pods/20)
}

func TestPodsWithoutNodesAreHeldBack(t *testing.T) {
	pod := Objects{Namespaces: []string{"a"}}.Pod(1)
	assert.Empty(t, pod.Spec.NodeName)
	assert.NotEmpty(t, pod.Spec.SchedulingGates)
	assert.Empty(t, pod.OwnerReferences, "a garbage collector would remove it")
	assert.Equal(t, "default", pod.Spec.ServiceAccountName)
	assert.Empty(t, Objects{Namespaces: []string{"a"}, Nodes: 1}.Pod(1).Spec.SchedulingGates, "an API server refuses both")
}

func TestLabelsAreOnAllObjectsAndNotShared(t *testing.T) {
	labels := map[string]string{"run": "1"}
	objects := Objects{Namespaces: []string{"a"}, Labels: labels}
	for _, object := range []func(int) metav1.Object{
		func(i int) metav1.Object { return objects.Pod(i) },
		func(i int) metav1.Object { return objects.ConfigMap(i) },
		func(i int) metav1.Object { return objects.Secret(i) },
		func(i int) metav1.Object { return objects.Service(i) },
		func(i int) metav1.Object { return objects.EndpointSlice(i) },
	} {
		for i := range 4 {
			obj := object(i)
			assert.Equal(t, "1", obj.GetLabels()["run"], "%T", obj)
			assert.NotEmpty(t, obj.GetLabels()[AppLabel], "%T", obj)
			assert.Equal(t, obj, object(i))
		}
	}
	assert.Equal(t, map[string]string{"run": "1"}, labels)
}
