package benchmarks

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	clientgodynamic "k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	clientgometadata "k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters/dynamicinformer"
	"github.com/kubetyped/informer/adapters/metadatainformer"
	"github.com/kubetyped/informer/typed/kube"
)

// resourceFactory is what dynamic and metadata factories have in common.
type resourceFactory interface {
	ForResource(schema.GroupVersionResource) informers.GenericInformer
	Start(<-chan struct{})
	WaitForCacheSync(<-chan struct{}) map[schema.GroupVersionResource]bool
	Shutdown()
}

const acceptedMetadata = runtime.ContentTypeProtobuf + metadataAlone + ";g=meta.k8s.io;v=v1"

// resourceForms are what such factories hold, and the format in which it is requested.
var resourceForms = []struct{ name, mediaType string }{
	{"unstructured", runtime.ContentTypeJSON},
	{"metadata", acceptedMetadata},
}

// resourceFactories make factories by form and side.
var resourceFactories = map[string]func(*rest.Config) (resourceFactory, error){
	"unstructured/client-go": func(config *rest.Config) (resourceFactory, error) {
		client, err := dynamic.NewForConfig(config)
		return clientgodynamic.NewDynamicSharedInformerFactory(client, 0), err
	},
	"unstructured/typed": func(config *rest.Config) (resourceFactory, error) {
		config.Wrap(kube.DecodingTransport)
		client, err := dynamic.NewForConfig(config)
		return dynamicinformer.NewDynamicSharedInformerFactoryWithOptions(client, 0, dynamicinformer.WithDeduplication()), err
	},
	"metadata/client-go": func(config *rest.Config) (resourceFactory, error) {
		client, err := metadata.NewForConfig(config)
		return clientgometadata.NewSharedInformerFactory(client, 0), err
	},
	"metadata/typed": func(config *rest.Config) (resourceFactory, error) {
		config.Wrap(kube.DecodingTransport)
		client, err := metadata.NewForConfig(config)
		return metadatainformer.NewSharedInformerFactoryWithOptions(client, 0, metadatainformer.WithDeduplication()), err
	},
}

// factoryTask runs a factory, and writes what it has used: how many objects it has, the
// nanoseconds of processor time to sync, the bytes of heap that it holds then, and the
// nanoseconds of processor time for some events. Its arguments are a key of resourceFactories,
// the server, and the number of events, 0 for none.
func factoryTask(arguments []string, ready func(string)) error {
	events, err := strconv.Atoi(arguments[2])
	if err != nil {
		return err
	}
	before, begun := liveStats(), cpuOfProcess()
	factory, err := resourceFactories[arguments[0]](&rest.Config{Host: arguments[1], QPS: -1})
	if err != nil {
		return err
	}
	informer := factory.ForResource(corev1.SchemeGroupVersion.WithResource("pods")).Informer()
	c := &counter{reached: make(chan struct{}, 1)}
	reached := c.expect(2 * keptPods)
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { c.next() },
		UpdateFunc: func(any, any) { c.next() },
	}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	syncing := cpuOfProcess() - begun
	var held uint64
	var updating time.Duration
	if events == 0 {
		held = liveStats().HeapAlloc - before.HeapAlloc
	} else {
		<-reached
		begun = cpuOfProcess()
		<-c.expect(events)
		updating = cpuOfProcess() - begun
	}
	ready(fmt.Sprintf("%d %d %d %d", len(informer.GetStore().ListKeys()), syncing.Nanoseconds(), held, updating.Nanoseconds()))
	defer factory.Shutdown()
	defer cancel()
	return untilTold()
}

func cpuOfProcess() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkResourceFactory measures dynamic and metadata factories with Pods, those of this
// project with WithDeduplication. An operation is two processes: one that syncs with 10,000 Pods,
// and one that follows 20,000 updates of 4,096 Pods.
//
// sync-cpu-ns/object is the processor time of the first until it has synced, heap-B/object
// what it holds then; update-cpu-ns/event that of the second for an event.
func BenchmarkResourceFactory(b *testing.B) {
	const pods, events = 10_000, 20_000
	for _, form := range resourceForms {
		b.Run("form="+form.name, func(b *testing.B) {
			lists, _ := startTask(b, fmt.Sprintf("serve %d 0 %s", pods, form.mediaType))
			updates, _ := startTask(b, fmt.Sprintf("serve 0 %d %s", keptPods, form.mediaType))
			for _, side := range []string{"client-go", "typed"} {
				b.Run("impl="+side, func(b *testing.B) {
					var syncing, held, updating float64
					for b.Loop() {
						synced := runFactory(b, form.name+"/"+side, lists, 0)
						require.EqualValues(b, pods, synced[0])
						updated := runFactory(b, form.name+"/"+side, updates, events)
						syncing, held, updating = syncing+synced[1], held+synced[2], updating+updated[3]
					}
					b.ReportMetric(0, "ns/op") // how long it took to measure
					b.ReportMetric(syncing/float64(b.N)/pods, "sync-cpu-ns/object")
					b.ReportMetric(held/float64(b.N)/pods, "heap-B/object")
					b.ReportMetric(updating/float64(b.N)/events, "update-cpu-ns/event")
				})
			}
		})
	}
}

// runFactory runs a factory in a process, and returns what that has written.
func runFactory(tb testing.TB, of, url string, events int) (figures []float64) {
	line, end := startTask(tb, fmt.Sprintf("factory %s %s %d", of, url, events))
	defer end()
	for _, word := range strings.Fields(line) {
		figure, err := strconv.ParseFloat(word, 64)
		require.NoError(tb, err)
		figures = append(figures, figure)
	}
	require.Len(tb, figures, 4)
	return figures
}

// TestResourceFactories: every side gets all Pods, and all events.
func TestResourceFactories(t *testing.T) {
	for _, form := range resourceForms {
		lists, _ := startTask(t, "serve 300 0 "+form.mediaType)
		for _, side := range []string{"client-go", "typed"} {
			assert.EqualValues(t, 300, runFactory(t, form.name+"/"+side, lists, 0)[0], "%s of %s", form.name, side)
		}
	}
}
