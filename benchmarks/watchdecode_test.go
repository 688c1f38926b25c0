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

	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// encodings are the formats that a watch can come in.
var encodings = []struct{ name, mediaType string }{
	{"protobuf", runtime.ContentTypeProtobuf},
	{"json", runtime.ContentTypeJSON},
}

// BenchmarkWatchDecode measures how fast a watch is received, decoded, stored and delivered to a
// handler. An operation is one event, a Pod that has changed, from another process that sends as
// fast as it is read, to the handler of an informer of 4,096 Pods: client-go's with a generated
// client in the given format, or typed's. Run it with -cpu 1,2,4 to see how it uses processors.
//
// cpu-ns/op is what this process has used; the sender's part is not in it.
func BenchmarkWatchDecode(b *testing.B) {
	url, _ := startTask(b, fmt.Sprintf("serve 0 %d %s %s", keptPods, runtime.ContentTypeJSON, runtime.ContentTypeProtobuf))
	for _, encoding := range encodings {
		config := &rest.Config{Host: url, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: encoding.mediaType}}
		for _, s := range []struct {
			name string
			run  func(*testing.B, context.Context, *rest.Config, *counter)
		}{
			{"client-go", informPods},
			{"typed", func(b *testing.B, ctx context.Context, config *rest.Config, c *counter) {
				informTypedPods(b, ctx, config, c)
			}},
		} {
			b.Run("encoding="+encoding.name+"/impl="+s.name, func(b *testing.B) {
				ctx, cancel := context.WithCancel(b.Context())
				var running sync.WaitGroup
				defer running.Wait()
				defer cancel()
				c := &counter{reached: make(chan struct{}, 1)}
				reached := c.expect(2 * keptPods)
				running.Go(func() { s.run(b, ctx, config, c) })
				<-reached
				b.ReportAllocs()
				b.ResetTimer()
				before := cpuTime(b)
				<-c.expect(b.N)
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

// keptPods is how many Pods there are.
const keptPods = 4096

// counter counts the events of a handler.
type counter struct {
	count int // owned by the handler

	target  atomic.Int64
	reached chan struct{}
	restart atomic.Bool // count from 0 again
}

// expect returns a channel that gets something when n more events have come.
func (c *counter) expect(n int) <-chan struct{} {
	c.target.Store(int64(n))
	c.restart.Store(true)
	return c.reached
}

func (c *counter) next() {
	if c.restart.Load() {
		c.restart.Store(false)
		c.count = 0
	}
	if c.count++; int64(c.count) == c.target.Load() {
		c.reached <- struct{}{}
	}
}

// informPods runs client-go's informer.
func informPods(b *testing.B, ctx context.Context, config *rest.Config, c *counter) {
	client, err := kubernetes.NewForConfig(config)
	require.NoError(b, err)
	lw := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", "", fields.Everything())
	informer := cache.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{})
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { c.next() },
		UpdateFunc: func(any, any) { c.next() },
	})
	require.NoError(b, err)
	informer.RunWithContext(ctx)
}

// informTypedPods runs an informer of this project.
func informTypedPods(b *testing.B, ctx context.Context, config *rest.Config, c *counter, opts ...typed.Option) {
	informer := typed.NewInformer(kube.FromREST[*corev1.Pod](config), opts...)
	_, err := informer.Handle(typed.HandlerFuncs[*corev1.Pod]{
		AddFunc:    func(*corev1.Pod, bool) { c.next() },
		UpdateFunc: func(_, _ *corev1.Pod) { c.next() },
	})
	require.NoError(b, err)
	require.NoError(b, informer.Run(ctx))
}
