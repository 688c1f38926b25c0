package mutation

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/internal/test/pods"
)

var made = pods.Cluster{Namespaces: []string{"shop"}, Nodes: 3}

// changesOf returns the reported changes of a Pod that change modifies.
func changesOf(t *testing.T, change func(*corev1.Pod)) []Change {
	var r Recorder
	pod := made.Pod(2, 1)
	record := r.Record(pod)
	require.Empty(t, r.Compare(record, pod, 8))
	change(pod)
	return r.Compare(record, pod, 8)
}

func TestChangesAreReported(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*corev1.Pod)
		want   []Change
	}{
		{"label", func(p *corev1.Pod) { p.Labels["app"] = "other" }, []Change{{"metadata.labels[app]", `"auth-api"`, `"other"`}}},
		{"label added", func(p *corev1.Pod) { p.Labels["b"] = "c" }, []Change{{"metadata.labels[b]", "none", `"c"`}}},
		{"label removed", func(p *corev1.Pod) { delete(p.Labels, "tier") }, []Change{{"metadata.labels[tier]", `"web"`, "none"}}},
		{"map gone", func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits = nil }, []Change{{"spec.containers[0].resources.limits", `map[memory:{i:{value:134217728} Format:"BinarySI"}]`, "nil"}}},
		{"sorted", func(p *corev1.Pod) {
			p.Spec.Tolerations[0], p.Spec.Tolerations[1] = p.Spec.Tolerations[1], p.Spec.Tolerations[0]
		}, []Change{
			{"spec.tolerations[0].key", `"node.kubernetes.io/not-ready"`, `"node.kubernetes.io/unreachable"`},
			{"spec.tolerations[1].key", `"node.kubernetes.io/unreachable"`, `"node.kubernetes.io/not-ready"`},
		}},
		{"appended", func(p *corev1.Pod) { p.Finalizers = append(p.Finalizers, "a/b") }, []Change{{"metadata.finalizers", "nil", `["a/b"]`}}},
		{"pointer", func(p *corev1.Pod) { *p.Spec.TerminationGracePeriodSeconds = 5 }, []Change{{"spec.terminationGracePeriodSeconds", "30", "5"}}},
		{"pointer set", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0).UTC()} }, []Change{{"metadata.deletionTimestamp", "nil", "{1970-01-01T00:00:00Z}"}}},
		{"pointer nil", func(p *corev1.Pod) { p.Spec.SecurityContext = nil }, []Change{{"spec.securityContext", "{}", "nil"}}},
		{"time", func(p *corev1.Pod) { p.Status.StartTime.Time = time.Unix(1, 0).UTC() }, []Change{{"status.startTime", made.Pod(2, 1).Status.StartTime.Format(time.RFC3339), "1970-01-01T00:00:01Z"}}},
		{"zone", func(p *corev1.Pod) { p.CreationTimestamp.Time = p.CreationTimestamp.In(time.FixedZone("", 3600)) }, nil},
		{"quantity", func(p *corev1.Pod) {
			p.Spec.Containers[1].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("1")
		}, nil},
		{"unexported", func(p *corev1.Pod) { p.ManagedFields[0].FieldsV1 = metav1.NewFieldsV1("{}") }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			changes := changesOf(t, test.change)
			if test.want == nil {
				assert.NotEmpty(t, changes)
				return
			}
			assert.Equal(t, test.want, changes)
		})
	}
}

func TestChangesAreBounded(t *testing.T) {
	var r Recorder
	numbers := make([]int, 100)
	record := r.Record(&numbers)
	for i := range numbers {
		numbers[i] = -i
	}
	assert.Equal(t, []Change{{"[1]", "0", "-1"}, {"[2]", "0", "-2"}}, r.Compare(record, &numbers, 2))
	numbers = append(numbers, make([]int, 500)...)
	changes := r.Compare(record, &numbers, 2)
	require.Len(t, changes, 1)
	assert.LessOrEqual(t, len(changes[0].New), longest+len("…"))
}

func TestAnythingCanBeRecorded(t *testing.T) {
	type loop struct {
		Next *loop
		N    int
	}
	around := &loop{N: 1}
	around.Next = around
	now := time.Now()
	for name, value := range map[string]any{
		"nil": nil, "loop": around, "func": func() {}, "chan": make(chan int), "complex": complex(1, 2), "array": [2]float64{1, 2},
		"bytes": []byte("a"), "times": map[string]time.Time{"a": now}, "keys": map[[2]int]bool{{1, 2}: true},
		"interfaces": []any{1, "a", nil, []any{true}, now}, "uint": uint8(3), "embedded": struct{ at time.Time }{now},
	} {
		var r Recorder
		assert.Empty(t, r.Compare(r.Record(value), value, 1), name)
	}
	var r Recorder
	record := r.Record(around)
	around.N = 2
	changes := r.Compare(record, around, 1)
	require.Len(t, changes, 1)
	assert.Regexp(t, `^(Next\.)*N$`, changes[0].Path)
	keys := map[[2]int]bool{{1, 2}: true}
	record = r.Record(keys)
	keys[[2]int{1, 2}] = false
	assert.Equal(t, []Change{{"[[1 2]]", "true", "false"}}, r.Compare(record, keys, 1))
}

// TestRecordsAreSmall compares records with the encoding of Pods, which are three
// times as large in memory.
func TestRecordsAreSmall(t *testing.T) {
	var r Recorder
	for i := range 100 {
		pod := made.Pod(i, 1)
		assert.InEpsilon(t, pod.Size(), len(r.Record(pod)), 0.2)
	}
}

func TestUnstructuredObjects(t *testing.T) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(made.Pod(0, 1))
	require.NoError(t, err)
	obj := &unstructured.Unstructured{Object: content}
	var r Recorder
	record := r.Record(obj)
	require.NoError(t, unstructured.SetNestedField(obj.Object, int64(7), "spec", "priority"))
	require.NoError(t, unstructured.SetNestedField(obj.Object, "7", "spec", "nodeName"))
	changes := r.Compare(record, obj, 8)
	require.Len(t, changes, 2)
	assert.Equal(t, []string{"Object[spec][nodeName]", `"7"`}, []string{changes[0].Path, changes[0].New})
	assert.Equal(t, Change{"Object[spec][priority]", "0", "7"}, changes[1])
}

// TestCompareAgreesWithDeepEqual changes one of two equal Pods at random, and asks
// for both.
func TestCompareAgreesWithDeepEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, 200).Draw(t, "pod")
		pod, same := made.Pod(i, 1), made.Pod(i, 1)
		var r Recorder
		record := r.Record(pod)
		version := rapid.IntRange(1, 4).Draw(t, "version")
		made.Pod(i, version).DeepCopyInto(pod)
		assert.Equal(t, reflect.DeepEqual(pod, same), len(r.Compare(record, pod, 1)) == 0)
	})
}

func BenchmarkRecord(b *testing.B) {
	var r Recorder
	pod := made.Pod(0, 1)
	record := r.Record(pod)
	b.Run("record", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			record = r.Record(pod)
		}
		b.ReportMetric(float64(len(record)), "bytes")
	})
	b.Run("compare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.Compare(record, pod, 1)
		}
	})
	b.Run("deepcopy", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			pod.DeepCopy()
		}
	})
	own := pod.DeepCopy()
	b.Run("deepequal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			reflect.DeepEqual(own, pod)
		}
	})
}
