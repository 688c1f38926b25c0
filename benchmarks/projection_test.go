package benchmarks

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// sixFields is what the benchmarks keep of a Pod.
type sixFields struct {
	Metadata struct {
		Namespace       string `json:"namespace"`
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Spec struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
		PodIP string `json:"podIP"`
	} `json:"status"`
}

func (p *sixFields) GetNamespace() string       { return p.Metadata.Namespace }
func (p *sixFields) GetName() string            { return p.Metadata.Name }
func (p *sixFields) GetResourceVersion() string { return p.Metadata.ResourceVersion }

// project returns the six fields of a Pod.
func project(pod *corev1.Pod) *sixFields {
	kept := &sixFields{}
	kept.Metadata.Namespace, kept.Metadata.Name, kept.Metadata.ResourceVersion = pod.Namespace, pod.Name, pod.ResourceVersion
	kept.Spec.NodeName = pod.Spec.NodeName
	kept.Status.Phase, kept.Status.PodIP = string(pod.Status.Phase), pod.Status.PodIP
	return kept
}

// strip leaves the same fields of a Pod, as a transform function of client-go.
func strip(obj any) (any, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, ResourceVersion: pod.ResourceVersion},
		Spec:       corev1.PodSpec{NodeName: pod.Spec.NodeName},
		Status:     corev1.PodStatus{Phase: pod.Status.Phase, PodIP: pod.Status.PodIP},
	}, nil
}

// synced is an informer that has synced from a player.
type synced struct {
	objects int
	stop    func()
}

// A syncer makes an informer and waits until it has synced.
type syncer func(config *rest.Config) (synced, error)

// syncClientGo syncs an informer of client-go's factory. transform may be nil.
func syncClientGo(transform cache.TransformFunc) syncer {
	return func(config *rest.Config) (synced, error) {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return synced{}, err
		}
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(transform))
		informer := factory.Core().V1().Pods().Informer()
		ctx, cancel := context.WithCancel(context.Background())
		factory.Start(ctx.Done())
		factory.WaitForCacheSync(ctx.Done())
		return synced{len(informer.GetStore().ListKeys()), func() {
			cancel()
			factory.Shutdown()
			runtime.KeepAlive(informer)
		}}, nil
	}
}

// syncTyped syncs an informer of this project.
func syncTyped[T interface {
	comparable
	GetNamespace() string
	GetName() string
}](config *rest.Config) (synced, error) {
	informer := typed.NewInformer(kube.FromREST[T](config, kube.WithResource(schema.GroupVersionResource{Version: "v1", Resource: "pods"})))
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	var ended error
	running.Go(func() { ended = informer.Run(ctx) })
	if err := informer.WaitForSync(ctx); err != nil {
		cancel()
		running.Wait()
		return synced{}, err
	}
	return synced{informer.Len(), func() {
		cancel()
		running.Wait()
		if ended != nil {
			panic(ended)
		}
	}}, nil
}

// BenchmarkProjection measures what it costs to keep six fields of Pods that come
// in JSON. An operation is an informer that syncs with 20,000 of them, a list that
// is streamed from another process: client-go with a transform function that
// leaves these fields, typed with a struct that has no others.
//
// cpu-ns/object is what this process has used, heap-B/object what an informer that
// has synced keeps.
func BenchmarkProjection(b *testing.B) {
	const pods = 20_000
	url, _ := startTask(b, "serve 20000 0 "+k8sruntime.ContentTypeJSON)
	config := &rest.Config{Host: url, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: k8sruntime.ContentTypeJSON}}
	for _, s := range []struct {
		name string
		sync syncer
	}{
		{"client-go", syncClientGo(strip)},
		{"typed", syncTyped[*sixFields]},
	} {
		b.Run("encoding=json/impl="+s.name, func(b *testing.B) {
			empty := heapInUse()
			one, err := s.sync(config)
			require.NoError(b, err)
			assert.Equal(b, pods, one.objects)
			heap := heapInUse() - empty
			one.stop()
			b.ReportAllocs()
			before := cpuTime(b)
			for b.Loop() {
				one, err := s.sync(config)
				require.NoError(b, err)
				one.stop()
			}
			b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N)/pods, "cpu-ns/object")
			b.ReportMetric(float64(heap)/pods, "heap-B/object")
		})
	}
}
