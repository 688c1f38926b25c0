package benchmarks

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// packedPod is a Pod as bytes, and four of its fields.
type packedPod struct {
	kube.Packed[*corev1.Pod]

	Spec struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
	Status struct {
		Phase  string `json:"phase"`
		PodIP  string `json:"podIP"`
		HostIP string `json:"hostIP"`
	} `json:"status"`
}

// heldInformer is an informer with three indexes, which has synced.
type heldInformer struct {
	objects int
	// each looks at each whole object.
	each func(use func(*corev1.Pod)) error
	stop func()
}

// holdTyped runs an informer of objects of type T with three indexes.
func holdTyped[T index.Object](b *testing.B, config *rest.Config, node, phase func(T) string, whole func(T) (*corev1.Pod, error), updated func()) heldInformer {
	informer := typed.NewInformer(kube.FromREST[T](config, kube.WithResource(schema.GroupVersionResource{Version: "v1", Resource: "pods"})))
	for _, add := range []*index.Index[string, T]{
		by("node", node), by("phase", phase), by("namespace", T.GetNamespace),
	} {
		require.NoError(b, informer.AddIndexes(add))
	}
	if updated != nil {
		_, err := informer.Handle(typed.HandlerFuncs[T]{UpdateFunc: func(_, _ T) { updated() }})
		require.NoError(b, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(b, informer.Run(ctx)) })
	require.NoError(b, informer.WaitForSync(ctx))
	return heldInformer{informer.Len(), func(use func(*corev1.Pod)) error {
		for obj := range informer.All() {
			pod, err := whole(obj)
			if err != nil {
				return err
			}
			use(pod)
		}
		return nil
	}, func() { cancel(); running.Wait() }}
}

func by[T index.Object](name string, value func(T) string) *index.Index[string, T] {
	return index.Single(name, func(obj T) (string, bool) { return value(obj), true })
}

// packedSides are informers of whole Pods, and of packed ones.
var packedSides = []struct {
	name string
	hold func(b *testing.B, config *rest.Config, updated func()) heldInformer
}{
	{"whole", func(b *testing.B, config *rest.Config, updated func()) heldInformer {
		return holdTyped(b, config, func(p *corev1.Pod) string { return p.Spec.NodeName }, func(p *corev1.Pod) string { return string(p.Status.Phase) },
			func(p *corev1.Pod) (*corev1.Pod, error) { return p.DeepCopy(), nil }, updated)
	}},
	{"packed", func(b *testing.B, config *rest.Config, updated func()) heldInformer {
		return holdTyped(b, config, func(p *packedPod) string { return p.Spec.NodeName }, func(p *packedPod) string { return p.Status.Phase },
			(*packedPod).Object, updated)
	}},
}

// BenchmarkPacked measures an informer of 20,000 Pods with three indexes that has synced from
// another process: of whole Pods, which are deduplicated, and of packed ones with four fields.
// An operation is a copy of one Pod for its caller: a deep copy, or kube.Packed's Object.
//
// B/pod and objects/pod are what the informer keeps of the heap, sync-cpu-ns/pod what this process
// used until it had synced, and gc-ns how long a whole run of the collector takes.
func BenchmarkPacked(b *testing.B) {
	const pods = 20_000
	url, _ := startTask(b, fmt.Sprintf("serve %d 0 %s %s", pods, k8sruntime.ContentTypeJSON, k8sruntime.ContentTypeProtobuf))
	for _, encoding := range encodings {
		config := &rest.Config{Host: url, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: encoding.mediaType}}
		for _, s := range packedSides {
			b.Run("encoding="+encoding.name+"/impl="+s.name, func(b *testing.B) {
				before, used := liveStats(), cpuTime(b)
				held := s.hold(b, config, nil)
				used = cpuTime(b) - used
				after := liveStats()
				require.Equal(b, pods, held.objects)
				defer held.stop()
				b.ReportAllocs()
				b.ResetTimer()
				for left := b.N; left > 0; {
					require.NoError(b, held.each(func(pod *corev1.Pod) {
						if left--; pod.Name == "" {
							b.Error("a Pod without a name")
						}
					}))
				}
				b.StopTimer()
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/pods, "B/pod")
				b.ReportMetric(float64(after.HeapObjects-before.HeapObjects)/pods, "objects/pod")
				b.ReportMetric(float64(used.Nanoseconds())/pods, "sync-cpu-ns/pod")
				b.ReportMetric(float64(collectionTime()), "gc-ns")
				runtime.KeepAlive(held)
			})
		}
	}
}

// BenchmarkPackedUpdate measures an update of one of 4,096 Pods with three indexes and a handler,
// of whole and of packed Pods, from another process that sends as fast as it is read.
func BenchmarkPackedUpdate(b *testing.B) {
	url, _ := startTask(b, fmt.Sprintf("serve %d %d %s %s", 0, keptPods, k8sruntime.ContentTypeJSON, k8sruntime.ContentTypeProtobuf))
	for _, encoding := range encodings {
		config := &rest.Config{Host: url, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: encoding.mediaType}}
		for _, s := range packedSides {
			b.Run("encoding="+encoding.name+"/impl="+s.name, func(b *testing.B) {
				c := &counter{reached: make(chan struct{}, 1)}
				reached := c.expect(2 * keptPods)
				held := s.hold(b, config, c.next)
				defer held.stop()
				<-reached
				b.ReportAllocs()
				b.ResetTimer()
				before := cpuTime(b)
				<-c.expect(b.N)
				b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
			})
		}
	}
}
