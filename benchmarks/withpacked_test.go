package benchmarks

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	clientgodynamic "k8s.io/client-go/dynamic/dynamicinformer"
	clientgoinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters/dynamicinformer"
	"github.com/kubetyped/informer/adapters/informers"
	"github.com/kubetyped/informer/typed/kube"
)

var podsResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// packedDropIns are informers of Pods of factories: client-go's, and those of adapters.
var packedDropIns = []struct {
	form, mediaType, name string
	informer              func(b *testing.B, config *rest.Config) cache.SharedIndexInformer
}{
	{"typed", k8sruntime.ContentTypeProtobuf, "client-go", func(b *testing.B, config *rest.Config) cache.SharedIndexInformer {
		return clientgoinformers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0).Core().V1().Pods().Informer()
	}},
	{"typed", k8sruntime.ContentTypeProtobuf, "deduplicated", typedDropIn(informers.WithDeduplication())},
	{"typed", k8sruntime.ContentTypeProtobuf, "packed", typedDropIn(informers.WithPacked())},
	{"unstructured", k8sruntime.ContentTypeJSON, "client-go", func(b *testing.B, config *rest.Config) cache.SharedIndexInformer {
		return clientgodynamic.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(config), 0).ForResource(podsResource).Informer()
	}},
	{"unstructured", k8sruntime.ContentTypeJSON, "deduplicated", dynamicDropIn(dynamicinformer.WithDeduplication())},
	{"unstructured", k8sruntime.ContentTypeJSON, "packed", dynamicDropIn(dynamicinformer.WithPacked())},
}

func typedDropIn(option informers.SharedInformerOption) func(*testing.B, *rest.Config) cache.SharedIndexInformer {
	return func(_ *testing.B, config *rest.Config) cache.SharedIndexInformer {
		return informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(config), 0, option).Core().V1().Pods().Informer()
	}
}

func dynamicDropIn(option dynamicinformer.SharedInformerOption) func(*testing.B, *rest.Config) cache.SharedIndexInformer {
	return func(_ *testing.B, config *rest.Config) cache.SharedIndexInformer {
		own := rest.CopyConfig(config)
		own.Wrap(kube.DecodingTransport)
		return dynamicinformer.NewDynamicSharedInformerFactoryWithOptions(dynamic.NewForConfigOrDie(own), 0, option).ForResource(podsResource).Informer()
	}
}

// runDropIn runs an informer until the function that it returns is called.
func runDropIn(b *testing.B, informer cache.SharedIndexInformer) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	require.True(b, cache.WaitForCacheSync(ctx.Done(), informer.HasSynced))
	return func() { cancel(); running.Wait() }
}

// BenchmarkWithPacked measures informers of factories with 20,000 Pods, as BenchmarkPacked. An
// operation is a Get of one Pod after the other, or a List of all.
func BenchmarkWithPacked(b *testing.B) {
	const pods = 20_000
	url, _ := startTask(b, fmt.Sprintf("serve %d 0 %s %s", pods, k8sruntime.ContentTypeJSON, k8sruntime.ContentTypeProtobuf))
	for _, s := range packedDropIns {
		config := &rest.Config{Host: url, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: s.mediaType}}
		b.Run("form="+s.form+"/impl="+s.name, func(b *testing.B) {
			before, used := liveStats(), cpuTime(b)
			informer := s.informer(b, config)
			defer runDropIn(b, informer)()
			used = cpuTime(b) - used
			after := liveStats()
			indexer := informer.GetIndexer()
			keys := indexer.ListKeys()
			require.Len(b, keys, pods)
			collection := collectionTime()
			b.Run("op=Get", func(b *testing.B) {
				for i := range b.N {
					if obj, ok, err := indexer.GetByKey(keys[i*977%pods]); obj == nil || !ok || err != nil {
						b.Fatal(obj, ok, err)
					}
				}
				b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/pods, "B/pod")
				b.ReportMetric((float64(after.HeapObjects)-float64(before.HeapObjects))/pods, "objects/pod")
				b.ReportMetric(float64(used.Nanoseconds())/pods, "sync-cpu-ns/pod")
				b.ReportMetric(float64(collection), "gc-ns")
			})
			b.Run("op=List", func(b *testing.B) {
				for range b.N {
					if n := len(indexer.List()); n != pods {
						b.Fatal(n)
					}
				}
			})
			runtime.KeepAlive(informer)
		})
	}
}

// BenchmarkWithPackedUpdate measures an update of one of 4,096 Pods, in informers of factories with
// a handler, as BenchmarkPackedUpdate.
func BenchmarkWithPackedUpdate(b *testing.B) {
	url, _ := startTask(b, fmt.Sprintf("serve %d %d %s %s", 0, keptPods, k8sruntime.ContentTypeJSON, k8sruntime.ContentTypeProtobuf))
	for _, s := range packedDropIns {
		config := &rest.Config{Host: url, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: s.mediaType}}
		b.Run("form="+s.form+"/impl="+s.name, func(b *testing.B) {
			c := &counter{reached: make(chan struct{}, 1)}
			reached := c.expect(2 * keptPods)
			informer := s.informer(b, config)
			_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { c.next() }})
			require.NoError(b, err)
			defer runDropIn(b, informer)()
			<-reached
			b.ReportAllocs()
			b.ResetTimer()
			before := cpuTime(b)
			<-c.expect(b.N)
			b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
	}
}
