package benchmarks

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// encodings are the formats that a watch can come in.
var encodings = []struct{ name, mediaType string }{
	{"protobuf", runtime.ContentTypeProtobuf},
	{"json", runtime.ContentTypeJSON},
}

// BenchmarkWatchDecode measures how fast a watch is received and decoded. An
// operation is one event, a Pod that has changed, from another process that sends
// as fast as it is read, to the store of a Reflector (client-go, with a generated
// client, told which format to use) or the sink of a source (typed), which keep
// 4,096 Pods, each until its next version comes. Run it with -cpu 1,2,4
// to see what it makes of processors.
//
// cpu-ns/op is what this process has used; the sender's part is not in it.
func BenchmarkWatchDecode(b *testing.B) {
	url, _ := startTask(b, fmt.Sprintf("serve 0 %d %s %s", keptPods, runtime.ContentTypeJSON, runtime.ContentTypeProtobuf))
	for _, encoding := range encodings {
		config := &rest.Config{Host: url, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: encoding.mediaType}}
		for _, s := range []struct {
			name string
			run  func(*testing.B, context.Context, *rest.Config, *taker)
		}{
			{"client-go", reflectPods},
			{"typed", sourcePods},
		} {
			b.Run("encoding="+encoding.name+"/impl="+s.name, func(b *testing.B) {
				ctx, cancel := context.WithCancel(b.Context())
				var running sync.WaitGroup
				defer running.Wait()
				defer cancel()
				t := newTaker()
				running.Go(func() { s.run(b, ctx, config, t) })
				<-t.expect(2 * keptPods)
				b.ReportAllocs()
				b.ResetTimer()
				before := cpuTime(b)
				<-t.expect(b.N)
				b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}

// cpuTime returns the time that this process has run so far.
func cpuTime(tb testing.TB) time.Duration {
	var usage syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// keptPods is how many Pods a taker keeps, and how many there are.
const keptPods = 4096

// taker takes Pods as they come: a store for a Reflector, and by way of
// takerSink a sink for a source.
type taker struct {
	pods  []*corev1.Pod // owned by the caller of take
	count int           // likewise

	target  atomic.Int64
	reached chan struct{}
	restart atomic.Bool // count from 0 again
}

func newTaker() *taker {
	return &taker{pods: make([]*corev1.Pod, keptPods), reached: make(chan struct{}, 1)}
}

// expect returns a channel that gets something when n more Pods have come.
func (t *taker) expect(n int) <-chan struct{} {
	t.target.Store(int64(n))
	t.restart.Store(true)
	return t.reached
}

func (t *taker) take(pod *corev1.Pod) {
	if t.restart.Load() {
		t.restart.Store(false)
		t.count = 0
	}
	t.pods[t.count%keptPods] = pod
	if t.count++; int64(t.count) == t.target.Load() {
		t.reached <- struct{}{}
	}
}

// Update implements cache.ReflectorStore.
func (t *taker) Update(obj any) error {
	t.take(obj.(*corev1.Pod))
	return nil
}

// Add implements cache.ReflectorStore.
func (t *taker) Add(obj any) error { return t.Update(obj) }

// Delete implements cache.ReflectorStore.
func (*taker) Delete(any) error { return nil }

// Replace implements cache.ReflectorStore.
func (*taker) Replace([]any, string) error { return nil }

// Resync implements cache.ReflectorStore.
func (*taker) Resync() error { return nil }

// reflectPods runs client-go's Reflector.
func reflectPods(b *testing.B, ctx context.Context, config *rest.Config, t *taker) {
	client, err := kubernetes.NewForConfig(config)
	require.NoError(b, err)
	lw := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", "", fields.Everything())
	cache.NewReflector(lw, &corev1.Pod{}, t, 0).RunWithContext(ctx)
}

// sourcePods runs a source of this project.
func sourcePods(b *testing.B, ctx context.Context, config *rest.Config, t *taker) {
	require.NoError(b, kube.FromREST[*corev1.Pod](config).Run(ctx, takerSink{b, t}))
}

// takerSink is a sink for a source.
type takerSink struct {
	tb    testing.TB
	taker *taker
}

func (s takerSink) Put(pod *corev1.Pod, _ string) { s.taker.take(pod) }

func (takerSink) Delete(*corev1.Pod, string)                    {}
func (takerSink) Remove(index.Key, index.Reason, string)        {}
func (takerSink) RemoveNamespace(string, string)                {}
func (takerSink) Replace(string, []*corev1.Pod, string)         {}
func (takerSink) Stage(p *corev1.Pod, _ string) source.Staged   { return source.Keep(p) }
func (takerSink) ReplaceStaged(string, []source.Staged, string) {}
func (takerSink) Bookmark(string)                               {}
func (takerSink) Progress(int, int)                             {}

func (s takerSink) Report(err error) {
	if err != nil {
		s.tb.Errorf("the source reports: %v", err)
	}
}
