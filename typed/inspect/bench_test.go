package inspect_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/observe"
	"github.com/kubetyped/informer/typed/source"
)

// listedPods is a source of so many Pods that do not change.
type listedPods int

func (l listedPods) Run(ctx context.Context, sink source.Sink[*corev1.Pod]) error {
	pods := make([]*corev1.Pod, l)
	for n := range pods {
		pods[n] = rig.NewPod(fmt.Sprintf("web-%d", n), fmt.Sprintf("node-%d", n%50))
	}
	sinktest.Replace(sink, "", pods, "1")
	<-ctx.Done()
	return nil
}

// stuckAfter is when a handler of a crowd is called stuck.
const stuckAfter = 2 * time.Second

// crowd runs 200 informers of 500 Pods, each with an index and two handlers, one of which
// is stuck in one of them.
func crowd(tb testing.TB) []typed.AnyInformer {
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	var running sync.WaitGroup
	tb.Cleanup(func() {
		cancel()
		close(release)
		running.Wait()
	})
	var all []typed.AnyInformer
	for n := range 200 {
		informer := typed.NewInformer(listedPods(500), typed.WithName("pods of tenant-"+strconv.Itoa(n)+" at 10.0.0.1:6443"), observe.WithSlowHandlers(time.Minute, stuckAfter))
		require.NoError(tb, informer.AddIndexes(index.New("node", func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} })))
		handled := make([]*typed.Registration, 2)
		for h := range handled {
			var err error
			handled[h], err = informer.Handle(typed.HandlerFuncs[*corev1.Pod]{AddFunc: func(*corev1.Pod, bool) {
				if n == 17 && h == 1 {
					<-release
				}
			}}, typed.WithHandlerName("handler "+strconv.Itoa(h)))
			require.NoError(tb, err)
		}
		running.Go(func() { _ = informer.Run(ctx) })
		all = append(all, informer)
		for h, r := range handled {
			if n != 17 || h == 0 {
				require.NoError(tb, r.WaitForSync(ctx))
			}
		}
	}
	return all
}

// BenchmarkReport200 measures what it takes to make, and to show, a report on 200 informers
// of 100,000 objects, two handlers each.
func BenchmarkReport200(b *testing.B) {
	all := crowd(b)
	inspector := newInspector(b, inspect.WithInformers(all...))
	inspector.Report(b.Context())
	b.Run("report", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			inspector.Report(b.Context())
		}
	})
	b.Run("first", func(b *testing.B) { // which weighs all
		b.ReportAllocs()
		for b.Loop() {
			newInspector(b, inspect.WithInformers(all...)).Report(b.Context())
		}
	})
	serve := func(name, target string) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := &sizeWriter{header: http.Header{}}
				inspector.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
				b.ReportMetric(float64(w.size), "bytes")
			}
		})
	}
	serve("json", "/?format=json")
	serve("page", "/")
	serve("key", "/?key=default/web-7")
	b.Run("update", func(b *testing.B) {
		update := inspect.Updates(inspector)
		update()
		b.ReportAllocs()
		for b.Loop() {
			b.ReportMetric(float64(len(update())), "bytes")
		}
	})
}

// sizeWriter counts what is written.
type sizeWriter struct {
	header http.Header
	size   int
}

func (w *sizeWriter) Header() http.Header         { return w.header }
func (w *sizeWriter) WriteHeader(int)             {}
func (w *sizeWriter) Write(p []byte) (int, error) { w.size += len(p); return io.Discard.Write(p) }
