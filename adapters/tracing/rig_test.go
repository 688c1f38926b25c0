package tracing_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/adapters/tracing"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/source"
)

// rig is a Tracer whose spans a test sees, and an informer that the test feeds.
type rig struct {
	*testing.T
	exporter *tracetest.InMemoryExporter
	tracer   *tracing.Tracer
	feed     *feed
	events   *tracing.Events
	informer *typed.Informer[*corev1.ConfigMap]
	queue    *queue.WorkQueue[index.Key]
	keys     *tracing.Queue[index.Key]
}

func newTracer(t *testing.T, opts ...tracing.Option) (*tracing.Tracer, *tracetest.InMemoryExporter) {
	exporter := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	tracer, err := tracing.New(append([]tracing.Option{tracing.WithTracerProvider(provider)}, opts...)...)
	require.NoError(t, err)
	return tracer, exporter
}

func newRig(t *testing.T, opts ...tracing.Option) *rig {
	r := &rig{T: t, feed: newFeed()}
	r.tracer, r.exporter = newTracer(t, opts...)
	var src source.Source[*corev1.ConfigMap]
	src, r.events = tracing.Source(r.tracer, source.Source[*corev1.ConfigMap](r.feed))
	r.informer = typed.NewInformer(src)
	var err error
	r.queue, err = queue.NewWorkQueue[index.Key](queue.WithName("maps"))
	require.NoError(t, err)
	r.keys, err = tracing.NewQueue(r.tracer, "maps", r.queue)
	require.NoError(t, err)
	return r
}

// enqueue adds the handler that puts keys into the queue.
func (r *rig) enqueue() {
	_, err := r.informer.Handle(tracing.Enqueue(r.events, r.keys, func(q control.Adder[index.Key]) typed.Handler[*corev1.ConfigMap] {
		return control.Enqueue[*corev1.ConfigMap](q)
	}))
	require.NoError(r, err)
}

// start runs the informer until the test ends, and returns its sink.
func (r *rig) start() source.Sink[*corev1.ConfigMap] {
	running(r.T, r.informer.Run)
	sink := <-r.feed.sink
	sinktest.Replace(sink, "", nil, "1")
	require.NoError(r, r.informer.WaitForSync(r.Context()))
	return sink
}

// running runs something until the test ends.
func running(t *testing.T, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { assert.NoError(t, run(ctx)) })
	t.Cleanup(func() {
		cancel()
		group.Wait()
	})
}

// feed is a source that a test feeds.
type feed struct {
	sink chan source.Sink[*corev1.ConfigMap]
}

func newFeed() *feed { return &feed{sink: make(chan source.Sink[*corev1.ConfigMap], 1)} }

func (f *feed) Run(ctx context.Context, sink source.Sink[*corev1.ConfigMap]) error {
	f.sink <- sink
	<-ctx.Done()
	return nil
}

func newMap(name, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: version}}
}

// spans returns the names of the spans that have ended, each below its parent, in the
// order in which they began.
func (r *rig) spans() []string { return tree(r.exporter.GetSpans()) }

func tree(all tracetest.SpanStubs) (lines []string) {
	known := map[string]bool{}
	for _, s := range all {
		known[s.SpanContext.SpanID().String()] = true
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b tracetest.SpanStub) int {
		return cmp.Or(a.StartTime.Compare(b.StartTime), cmp.Compare(a.Name, b.Name))
	})
	var print func(parent, indent string)
	print = func(parent, indent string) {
		for _, s := range all {
			if s.Parent.SpanID().String() == parent {
				lines = append(lines, indent+s.Name)
				print(s.SpanContext.SpanID().String(), indent+"  ")
			}
		}
	}
	print("0000000000000000", "")
	for _, s := range all { // whose parents have not ended
		if p := s.Parent.SpanID().String(); !known[p] && s.Parent.IsValid() {
			known[p] = true
			print(p, "? ")
		}
	}
	return lines
}

// find returns the only span of a name.
func (r *rig) find(name string) tracetest.SpanStub {
	r.Helper()
	found := slices.DeleteFunc(r.exporter.GetSpans(), func(s tracetest.SpanStub) bool { return s.Name != name })
	require.Len(r, found, 1, "%v", r.spans())
	return found[0]
}

// attributes returns the attributes of a span as strings.
func attributes(s tracetest.SpanStub) map[string]string {
	all := map[string]string{}
	for _, a := range s.Attributes {
		all[string(a.Key)] = fmt.Sprint(a.Value.AsInterface())
	}
	return all
}
