package benchmarks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
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

// keptSides are factories: client-go's, and those of adapters.
var keptSides = []string{"client-go", "deduplicated", "packed"}

// keptInformer returns a side's informer of a content.
func keptInformer(side string, of keptContent, config *rest.Config) (cache.SharedIndexInformer, error) {
	if of.mediaType == k8sruntime.ContentTypeJSON {
		config.Wrap(kube.DecodingTransport)
		client, err := dynamic.NewForConfig(config)
		if err != nil || side == "client-go" {
			return clientgodynamic.NewDynamicSharedInformerFactory(client, 0).ForResource(of.resource).Informer(), err
		}
		option := map[string]dynamicinformer.SharedInformerOption{"deduplicated": dynamicinformer.WithDeduplication(), "packed": dynamicinformer.WithPacked()}[side]
		return dynamicinformer.NewDynamicSharedInformerFactoryWithOptions(client, 0, option).ForResource(of.resource).Informer(), nil
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	factory := clientgoinformers.NewSharedInformerFactory(client, 0)
	if option := map[string]informers.SharedInformerOption{"deduplicated": informers.WithDeduplication(), "packed": informers.WithPacked()}[side]; option != nil {
		factory = informers.NewSharedInformerFactoryWithOptions(client, 0, option)
	}
	generic, err := factory.ForResource(of.resource)
	if err != nil {
		return nil, err
	}
	return generic.Informer(), nil
}

// keptFigures are what a process has measured: CPU in nanoseconds, memory in bytes.
type keptFigures struct {
	Objects                          int
	Sync, Collector, SyncSeconds     float64 // CPU until it has synced, that of the collector in it; time
	Peak, Held, HeapObjects, Collect float64 // Collect is the CPU of one collection
	Get, List, ByIndex               float64 // CPU of one
	Update                           float64 // CPU
}

// keepTask syncs an informer with an index, and measures reads; or follows changes. Its arguments
// are a side, a content, the server, the number of handlers and that of changes, 0 for reads.
func keepTask(arguments []string, ready func(string)) error {
	of, err := contentOf(arguments[1])
	if err != nil {
		return err
	}
	handlers, err := strconv.Atoi(arguments[3])
	if err != nil {
		return err
	}
	changes, err := strconv.Atoi(arguments[4])
	if err != nil {
		return err
	}
	var read atomic.Int64
	config := &rest.Config{Host: arguments[2], QPS: -1, ContentConfig: rest.ContentConfig{ContentType: of.mediaType}}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return readCounter{next, &read} })
	before, begun, began := liveStats(), cpuOfProcess(), time.Now()
	collecting := collectorTime()
	informer, err := keptInformer(arguments[0], of, config)
	if err != nil {
		return err
	}
	if err := informer.AddIndexers(cache.Indexers{"app": func(obj any) ([]string, error) {
		m, err := meta.Accessor(obj)
		return []string{m.GetLabels()["app"]}, err
	}}); err != nil {
		return err
	}
	var calls atomic.Int64
	for range handlers {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { calls.Add(1) }}); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("%v was not synced", arguments)
	}
	f := &keptFigures{Sync: nanoseconds(cpuOfProcess() - begun), SyncSeconds: time.Since(began).Seconds(), Collector: collectorTime() - collecting}
	if changes > 0 {
		err = f.follow(of, &read, &calls, handlers, changes)
	} else {
		err = f.read(informer, before)
	}
	if err != nil {
		return err
	}
	line, err := json.Marshal(f)
	if err != nil {
		return err
	}
	ready(string(line))
	err = untilTold()
	cancel()
	running.Wait()
	return err
}

// read measures what a synced informer holds, and reads.
func (f *keptFigures) read(informer cache.SharedIndexInformer, before runtime.MemStats) error {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return err
	}
	after, indexer := liveStats(), informer.GetIndexer()
	keys := indexer.ListKeys()
	f.Objects, f.Peak = len(keys), float64(usage.Maxrss)*1024
	f.Held, f.HeapObjects = float64(after.HeapAlloc)-float64(before.HeapAlloc), float64(after.HeapObjects)-float64(before.HeapObjects)
	f.Collect = fastest(3, runtime.GC)
	const gets = 2_000
	apps := indexer.ListIndexFuncValues("app")
	failed := error(nil)
	f.Get = fastest(3, func() {
		for i := range gets {
			if _, ok, err := indexer.GetByKey(keys[i*977%len(keys)]); !ok || err != nil {
				failed = cmp.Or(err, io.ErrUnexpectedEOF)
			}
		}
	}) / gets
	f.List = fastest(3, func() { indexer.List() })
	f.ByIndex = fastest(3, func() {
		for i := range 100 {
			if _, err := indexer.ByIndex("app", apps[i*7%len(apps)]); err != nil {
				failed = err
			}
		}
	}) / 100
	return failed
}

// follow measures changes, after as many that are not measured.
func (f *keptFigures) follow(of keptContent, read, calls *atomic.Int64, handlers, changes int) error {
	size, err := frameSize(of)
	if err != nil {
		return err
	}
	come := func() float64 { // as many as handlers have seen, or as were read
		if handlers > 0 {
			return float64(calls.Load()) / float64(handlers)
		}
		return float64(read.Load()) / size
	}
	for come() < float64(2*of.changed) { // all were there twice
		time.Sleep(10 * time.Millisecond)
	}
	from, begun := come(), cpuOfProcess()
	for come() < from+float64(changes) {
		time.Sleep(10 * time.Millisecond)
	}
	f.Update = nanoseconds(cpuOfProcess()-begun) / (come() - from)
	return nil
}

// frameSize returns about the size of a change in a watch.
func frameSize(of keptContent) (float64, error) {
	p := &keptPlayer{keptContent: of}
	p.changed = 64
	if err := p.record(true); err != nil {
		return 0, err
	}
	size := 0
	for _, data := range p.changes {
		size += len(data)
	}
	return float64(size) / float64(p.changed*recordedVersions), nil
}

// readCounter counts the bytes of responses.
type readCounter struct {
	next http.RoundTripper
	read *atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (c readCounter) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(request)
	if err == nil {
		response.Body = countedBody{response.Body, c.read}
	}
	return response, err
}

type countedBody struct {
	io.ReadCloser
	read *atomic.Int64
}

// Read implements io.Reader.
func (b countedBody) Read(to []byte) (int, error) {
	n, err := b.ReadCloser.Read(to)
	b.read.Add(int64(n))
	return n, err
}

func nanoseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) }

// fastest returns the CPU of the fastest of some calls.
func fastest(calls int, call func()) float64 {
	least := time.Hour
	for range calls {
		begun := cpuOfProcess()
		call()
		least = min(least, cpuOfProcess()-begun)
	}
	return nanoseconds(least)
}

// collectorTime returns the CPU of the collector since the process began, in nanoseconds, without
// what it took while nothing else ran. The runtime estimates it, on a busy machine too high.
func collectorTime() float64 {
	runtime.GC() // or the figure is not up to date
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/gc/mark/idle:cpu-seconds"}}
	metrics.Read(sample)
	return (sample[0].Value.Float64() - sample[1].Value.Float64()) * 1e9
}

// BenchmarkKeptProcess measures processes with an informer of a factory with an index, of 20,000
// objects, of 2,000 of the custom resource, and of 200,000 Pods. An operation is four processes:
// one that syncs and is read, and three that follow changes, at a rate at which handlers keep up,
// with no, one and four handlers.
func BenchmarkKeptProcess(b *testing.B) {
	const changes = 4_000
	for _, of := range keptContents {
		b.Run("content="+of.name, func(b *testing.B) {
			lists, end := startTask(b, "servekept "+of.name+" all")
			updates, endUpdates := startTask(b, "servekept "+of.name+" changes")
			defer end()
			defer endUpdates()
			for _, side := range keptSides {
				b.Run("impl="+side, func(b *testing.B) {
					for range b.N {
						f := runKept(b, side, of, lists, 0, 0)
						require.Equal(b, of.count, f.Objects)
						n := float64(f.Objects)
						b.ReportMetric(0, "ns/op")
						b.ReportMetric(f.Held/n, "held-B/object")
						b.ReportMetric(f.HeapObjects/n, "heap-objects/object")
						b.ReportMetric(f.Peak/1e6, "peak-MB")
						b.ReportMetric(f.Sync/n, "sync-cpu-ns/object")
						b.ReportMetric(f.Collector/n, "sync-gc-cpu-ns/object")
						b.ReportMetric(f.SyncSeconds, "sync-sec")
						b.ReportMetric(f.Collect/1e6, "collect-cpu-ms")
						b.ReportMetric(f.Get, "get-cpu-ns")
						b.ReportMetric(f.List/1e6, "list-cpu-ms")
						b.ReportMetric(f.ByIndex/1e3, "byindex-cpu-us")
						for _, handlers := range []int{0, 1, 4} {
							f := runKept(b, side, of, updates, handlers, min(changes, 2*of.changed))
							b.ReportMetric(f.Update, fmt.Sprintf("update-%d-cpu-ns", handlers))
						}
					}
				})
			}
		})
	}
}

// runKept runs a process.
func runKept(tb testing.TB, side string, of keptContent, url string, handlers, changes int) (f keptFigures) {
	line, end := startTask(tb, strings.Join([]string{"keep", side, of.name, url, strconv.Itoa(handlers), strconv.Itoa(changes)}, " "))
	defer end()
	require.NoError(tb, json.Unmarshal([]byte(line), &f), line)
	return f
}

// TestKeptProcesses: every side gets all objects and changes, by the index, too.
func TestKeptProcesses(t *testing.T) {
	of := fewWidgets
	lists, _ := startTask(t, "servekept few all")
	updates, _ := startTask(t, "servekept few changes")
	for _, side := range keptSides {
		f := runKept(t, side, of, lists, 0, 0)
		require.Equal(t, of.count, f.Objects, side)
		require.Positive(t, f.Held)
		require.Positive(t, f.ByIndex)
		require.Positive(t, runKept(t, side, of, updates, 1, 50).Update, side)
	}
}
