package pods

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

var ours = Cluster{Namespaces: []string{"team-a", "team-b", "team-c"}, Nodes: 500}

// leaves returns the values of a Pod's JSON by their paths, such as
// status.podIPs.0.ip.
func leaves(t *testing.T, pod *corev1.Pod) map[string]string {
	data, err := json.Marshal(pod)
	require.NoError(t, err)
	var content any
	require.NoError(t, json.Unmarshal(data, &content))
	found := map[string]string{}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			if len(value) == 0 {
				found[strings.TrimPrefix(path, ".")] = "{}"
			}
			for name, v := range value {
				walk(path+"."+name, v)
			}
		case []any:
			for i, v := range value {
				walk(fmt.Sprint(path, ".", i), v)
			}
		default:
			found[strings.TrimPrefix(path, ".")] = fmt.Sprint(value)
		}
	}
	walk("", content)
	return found
}

// differences returns the paths at which two Pods differ, sorted.
func differences(t *testing.T, a, b *corev1.Pod) []string {
	one, other := leaves(t, a), leaves(t, b)
	differ := sets.New[string]()
	for path, value := range one {
		if v, ok := other[path]; !ok || v != value {
			differ.Insert(path)
		}
	}
	for path := range other {
		if _, ok := one[path]; !ok {
			differ.Insert(path)
		}
	}
	return sets.List(differ)
}

// TestPodsOfAnApplicationDifferAsInACluster lists all that differs between two
// Pods of an application that were never restarted. The rest is the same.
func TestPodsOfAnApplicationDifferAsInACluster(t *testing.T) {
	assert.Equal(t, []string{
		"metadata.annotations.cni.projectcalico.org/containerID",
		"metadata.annotations.cni.projectcalico.org/podIP",
		"metadata.annotations.cni.projectcalico.org/podIPs",
		"metadata.creationTimestamp",
		"metadata.managedFields.0.time",
		"metadata.managedFields.1.time",
		`metadata.managedFields.2.fieldsV1.f:status.f:podIPs.k:{"ip":"10.64.0.0"}..`,
		`metadata.managedFields.2.fieldsV1.f:status.f:podIPs.k:{"ip":"10.64.0.0"}.f:ip`,
		`metadata.managedFields.2.fieldsV1.f:status.f:podIPs.k:{"ip":"10.64.0.1"}..`,
		`metadata.managedFields.2.fieldsV1.f:status.f:podIPs.k:{"ip":"10.64.0.1"}.f:ip`,
		"metadata.managedFields.2.time",
		"metadata.name",
		"metadata.resourceVersion",
		"metadata.uid",
		"spec.containers.0.volumeMounts.1.name",
		"spec.containers.1.volumeMounts.0.name",
		"spec.nodeName",
		"spec.volumes.1.name",
		"status.conditions.0.lastTransitionTime",
		"status.conditions.1.lastTransitionTime",
		"status.conditions.2.lastTransitionTime",
		"status.conditions.3.lastTransitionTime",
		"status.conditions.4.lastTransitionTime",
		"status.containerStatuses.0.containerID",
		"status.containerStatuses.0.state.running.startedAt",
		"status.containerStatuses.0.volumeMounts.0.name",
		"status.containerStatuses.1.containerID",
		"status.containerStatuses.1.state.running.startedAt",
		"status.containerStatuses.1.volumeMounts.1.name",
		"status.hostIP",
		"status.hostIPs.0.ip",
		"status.podIP",
		"status.podIPs.0.ip",
		"status.startTime",
	}, differences(t, ours.Pod(0, 1), ours.Pod(1, 1)))
}

// TestUpdatesAreThoseOfKubelets lists all that differs between two versions of a
// Pod.
func TestUpdatesAreThoseOfKubelets(t *testing.T) {
	first, second, third := ours.Pod(3, 1), ours.Pod(3, 2), ours.Pod(3, 3)
	assert.Equal(t, []string{
		"metadata.managedFields.2.time",
		"metadata.resourceVersion",
		"status.conditions.2.lastTransitionTime",
		"status.conditions.2.message",
		"status.conditions.2.reason",
		"status.conditions.2.status",
		"status.conditions.3.lastTransitionTime",
		"status.conditions.3.message",
		"status.conditions.3.reason",
		"status.conditions.3.status",
		"status.containerStatuses.1.ready",
	}, differences(t, first, second))
	assert.Equal(t, []string{
		"metadata.managedFields.2.time", "metadata.resourceVersion",
		"status.conditions.2.lastTransitionTime", "status.conditions.3.lastTransitionTime",
	}, differences(t, first, third), "ready again")
}

// TestApplicationsDiffer looks at what an application has that others have not.
func TestApplicationsDiffer(t *testing.T) {
	differ := differences(t, ours.Pod(0, 1), ours.Pod(DefaultPerApp, 1))
	for _, path := range []string{
		"metadata.labels.app", "metadata.labels.pod-template-hash", "metadata.labels.tier", "metadata.labels.version",
		"metadata.generateName", "metadata.namespace", "metadata.ownerReferences.0.name", "metadata.ownerReferences.0.uid",
		"spec.containers.0.args.0", "spec.containers.0.env.1.value", "spec.containers.0.image", "spec.containers.0.resources.requests.cpu",
		"spec.serviceAccountName", "spec.volumes.0.configMap.name", "status.containerStatuses.1.image", "status.containerStatuses.1.imageID",
	} {
		assert.Contains(t, differ, path)
	}
}

func TestPodsAreAsLargeAsReal(t *testing.T) {
	const pods = 2_000
	protobuf, text, containers := 0, 0, map[int]int{}
	names, restarted := sets.New[string](), 0
	for i := range pods {
		pod := ours.Pod(i, 1)
		protobuf += pod.Size()
		data, err := json.Marshal(pod)
		require.NoError(t, err)
		text += len(data)
		containers[len(pod.Spec.Containers)]++
		restarted += int(pod.Status.ContainerStatuses[len(pod.Spec.Containers)-1].RestartCount)
		names.Insert(pod.Namespace + "/" + pod.Name)
	}
	assert.InDelta(t, 5_000, protobuf/pods, 500, "bytes of protobuf")
	assert.InDelta(t, 7_800, text/pods, 780, "bytes of JSON")
	assert.Len(t, containers, 2, "two containers, or three")
	assert.InDelta(t, pods/8, restarted, pods/40)
	assert.Len(t, names, pods)
}

func TestPodsAreTheSameEachTime(t *testing.T) {
	for i := range 100 {
		require.Equal(t, ours.Pod(i, 2), ours.Pod(i, 2))
	}
	other := ours
	other.Seed = 1
	assert.NotEqual(t, ours.Pod(1, 1).UID, other.Pod(1, 1).UID)
	assert.NotEqual(t, ours.Pod(1, 1).Name, other.Pod(1, 1).Name)
}

func TestPodsShareNothing(t *testing.T) {
	first, second := ours.Pod(0, 1), ours.Pod(0, 1)
	want := second.DeepCopy()
	first.Labels[AppLabel] = "changed"
	first.Spec.Containers[0].Env[0].ValueFrom.FieldRef.FieldPath = "changed"
	first.Status.ContainerStatuses[0].State.Running.StartedAt.Reset()
	assert.Equal(t, want, second)
}

// TestOutlinesHaveTheReadFields compares outlines with the Pods that they are of.
func TestOutlinesHaveTheReadFields(t *testing.T) {
	template := ours.Pod(0, 1)
	for _, i := range []int{1, DefaultPerApp - 1, 7 * DefaultPerApp} {
		outline, whole := ours.Outline(template, i, 2), ours.Pod(i, 2)
		assert.Equal(t, whole.UID, outline.UID)
		assert.Equal(t, whole.Labels, outline.Labels)
		assert.Equal(t, []string{whole.Namespace, whole.Name, whole.ResourceVersion}, []string{outline.Namespace, outline.Name, outline.ResourceVersion})
		assert.Equal(t, whole.Spec.NodeName, outline.Spec.NodeName)
		assert.Equal(t, whole.Status.PodIPs, outline.Status.PodIPs)
		assert.Equal(t, whole.Status.HostIPs, outline.Status.HostIPs)
		assert.Equal(t, template.Spec.Containers, outline.Spec.Containers)
	}
	assert.Equal(t, ours.Pod(0, 1), template)
}

func TestAppsHaveTheirPods(t *testing.T) {
	for _, perApp := range []int{0, 1, 5, 500} {
		c := ours
		c.PerApp = perApp
		perApp = max(perApp, 1)
		if c.PerApp == 0 {
			perApp = DefaultPerApp
		}
		owners, namespaces := map[string]int{}, sets.New[string]()
		for i := range 3 * perApp {
			pod := c.Pod(i, 1)
			owners[string(pod.OwnerReferences[0].UID)+pod.Labels[AppLabel]]++
			namespaces.Insert(pod.Namespace)
		}
		assert.Equal(t, []int{perApp, perApp, perApp}, slices.Collect(maps.Values(owners)), "%d Pods an application", perApp)
		assert.Len(t, namespaces, 3)
	}
}

func TestNamesOfAppsAreUnique(t *testing.T) {
	names := sets.New[string]()
	for n := range 20_000 {
		names.Insert(AppName(n))
	}
	assert.Len(t, names, 20_000)
}

// TestPodsEqualTheirEncoding decodes what was encoded.
func TestPodsEqualTheirEncoding(t *testing.T) {
	for i := range 100 {
		pod, decoded := ours.Pod(i, 2), &corev1.Pod{}
		data, err := pod.Marshal()
		require.NoError(t, err)
		require.NoError(t, decoded.Unmarshal(data))
		again, err := decoded.Marshal()
		require.NoError(t, err)
		require.True(t, reflect.DeepEqual(data, again))
		for _, entry := range pod.ManagedFields {
			require.True(t, json.Valid(entry.FieldsV1.GetRawBytes()))
		}
	}
}
