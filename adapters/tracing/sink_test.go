package tracing_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters/tracing"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/reference"
	"github.com/kubetyped/informer/typed/source"
)

// TestSourceEqualsTheWrappedOne: no optional interface of a source or sink is lost.
func TestSourceEqualsTheWrappedOne(t *testing.T) {
	tracer, _ := newTracer(t)
	config := &rest.Config{Host: "https://10.0.0.1:6443"}
	plain := kube.FromREST[*corev1.ConfigMap](config, kube.WithNamespace("default"))
	traced, _ := tracing.Source(tracer, plain)
	require.Equal(t, "default", source.OriginOf(plain).Namespace)
	assert.Equal(t, source.OriginOf(plain), source.OriginOf(traced), "source.Located")
	sharder, ok := traced.(source.Sharder[*corev1.ConfigMap])
	require.True(t, ok, "source.Sharder")
	part := sharder.InShards("shardRange(object.metadata.uid, '0x0', '0x8')")
	assert.Equal(t, source.OriginOf(plain.(source.Sharder[*corev1.ConfigMap]).InShards("shardRange(object.metadata.uid, '0x0', '0x8')")), source.OriginOf(part))
	assert.IsType(t, traced, part, "a part is traced as well")

	small, _ := tracing.Source(tracer, source.Source[*corev1.ConfigMap](newFeed()))
	_, ok = small.(source.Sharder[*corev1.ConfigMap])
	assert.False(t, ok, "what cannot be asked for a part is not")

	r := newRig(t)
	sink := r.start()
	bare := newFeed()
	other := typed.NewInformer(source.Source[*corev1.ConfigMap](bare))
	running(t, other.Run)
	own := <-bare.sink
	require.NotNil(t, own.Decoding().Held)
	require.NotNil(t, own.Decoding().Meter)

	obj := newMap("a", "2")
	sinktest.Put(sink, obj, "2")
	require.NoError(t, r.informer.WaitForResourceVersion(t.Context(), "2"))
	held, ok := sink.Decoding().Held(index.Key{Namespace: "default", Name: "a"})
	assert.True(t, ok && held == obj, "it is the informer's")
	sink.Decoding().Meter.Read(7)
	assert.EqualValues(t, 7, r.informer.Status().Traffic.Bytes)
}

// TestNamed: a traced source is one of one object if it is without tracing. So package reference
// refuses one that would list others.
func TestNamed(t *testing.T) {
	tracer, _ := newTracer(t)
	config := &rest.Config{Host: "https://10.0.0.1:6443"}
	key := index.Key{Namespace: "default", Name: "a"}
	hold := func(src source.Source[*corev1.ConfigMap]) error {
		traced, _ := tracing.Source(tracer, src)
		return reference.NewSource[index.Key](func(index.Key) source.Source[*corev1.ConfigMap] { return traced }).Hold(key, key)
	}
	assert.NoError(t, hold(kube.FromREST[*corev1.ConfigMap](config, kube.WithName(key))))
	assert.ErrorContains(t, hold(kube.FromREST[*corev1.ConfigMap](config, kube.WithNamespace("default"))), "use WithName")
	other := index.Key{Namespace: "default", Name: "b"}
	assert.ErrorContains(t, hold(kube.FromREST[*corev1.ConfigMap](config, kube.WithName(other))), "one of the object default/b")
	assert.ErrorContains(t, hold(kube.FromListerWatcher[*corev1.ConfigMap](&cache.ListWatch{})), "use WithName")
	assert.NoError(t, hold(newFeed()), "nothing is known of others")
}

// TestSteps: changes that belong together stay together, and done is called after them.
func TestSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.enqueue()
		sink := r.start()
		done := make(chan int, 1)
		seen := func() { done <- r.informer.Len() }
		sink.Step([]index.Change[*corev1.ConfigMap]{{Object: newMap("a", "2")}, {Object: newMap("b", "3")}}, "3", seen)
		assert.Equal(t, 2, <-done)
		sink.Step([]index.Change[*corev1.ConfigMap]{{Object: newMap("a", "4"), Delete: true}}, "4", nil)
		sink.Step(nil, "", seen)
		assert.Equal(t, 1, <-done)
		synctest.Wait()
		assert.Equal(t, []string{
			"receive ConfigMap", "  handle ConfigMap", "  store", "receive ConfigMap", "  handle ConfigMap", "  store",
			"receive ConfigMap", "  handle ConfigMap", "  store",
		}, r.spans())
	})
}

// TestDeletionsByKey: a deletion that is known by its key alone comes to the handler with an earlier
// version, or never, and then ends with the next event of the object.
func TestDeletionsByKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.enqueue()
		sink := r.start()
		key := index.Key{Namespace: "default", Name: "a"}
		sinktest.Put(sink, newMap("a", "2"), "2")
		synctest.Wait()
		sinktest.Remove(sink, key, index.Watched, "3")
		synctest.Wait()
		received := []string{"receive ConfigMap", "  handle ConfigMap", "  store"}
		assert.Equal(t, slices.Repeat(received, 2), r.spans())
		assert.Zero(t, r.events.Underway())
		sinktest.Remove(sink, key, index.Watched, "4")
		synctest.Wait()
		assert.Equal(t, 1, r.events.Underway())
		sinktest.Put(sink, newMap("a", "5"), "5")
		synctest.Wait()
		assert.Zero(t, r.events.Underway())
	})
}

// TestBelowProjections: events of a projected source are identified by their keys, and an object
// that leaves the projection is handled as a deletion.
func TestBelowProjections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracer, exporter := newTracer(t)
		from := newFeed()
		src, events := tracing.Source(tracer, source.Source[*corev1.ConfigMap](from))
		names := typed.NewInformer(source.FilterMap(src, func(m *corev1.ConfigMap) (mapName, bool) {
			return mapName{m.Namespace, m.Name}, m.Data == nil
		}))
		_, err := names.Handle(tracing.Handler[mapName](events, typed.HandlerFuncs[mapName]{}))
		require.NoError(t, err)
		running(t, names.Run)
		sink := <-from.sink
		sinktest.Replace(sink, "", nil, "1")
		sinktest.Put(sink, newMap("a", "2"), "2")
		sinktest.Remove(sink, index.Key{Namespace: "default", Name: "nobody"}, index.Watched, "3")
		synctest.Wait()
		out := newMap("a", "4")
		out.Data = map[string]string{"x": "y"}
		sinktest.Put(sink, out, "4")
		synctest.Wait()
		assert.Equal(t, []string{
			"receive ConfigMap", "  handle ConfigMap", "  store", "receive ConfigMap", "  store", "receive ConfigMap", "  handle ConfigMap", "  store",
		}, tree(exporter.GetSpans()))
		assert.Equal(t, 1, events.Underway(), "of what never comes to a handler")
		time.Sleep(11 * time.Minute)
		sinktest.Put(sink, newMap("b", "5"), "5")
		synctest.Wait()
		assert.Zero(t, events.Underway(), "it is forgotten when it is old")
	})
}

// TestLists: objects of lists are not traced.
func TestLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.enqueue()
		sink := r.start()
		sinktest.Replace(sink, "", []*corev1.ConfigMap{newMap("a", "2"), newMap("b", "3")}, "3")
		sink.Replace(source.List{Items: []source.Staged{sink.Stage(newMap("a", "4"), "4")}}, "5")
		sinktest.Remove(sink, index.Key{Namespace: "default", Name: "a"}, index.OutOfScope, "6")
		synctest.Wait()
		assert.Equal(t, 2, r.queue.Len())
		assert.Empty(t, r.spans())
		sinktest.Put(sink, nil, "7")
		assert.Equal(t, 1, r.informer.Status().Rejected)
	})
}

// TestOff: without a Tracer everything is what it was.
func TestOff(t *testing.T) {
	r := newRig(t)
	from := source.Source[*corev1.ConfigMap](newFeed())
	src, events := tracing.Source(nil, from)
	assert.True(t, src == from && events == nil)
	h := typed.Handler[*corev1.ConfigMap](&typed.HandlerFuncs[*corev1.ConfigMap]{})
	assert.True(t, tracing.Handler(nil, h) == h)
	keys, err := tracing.NewQueue[index.Key](nil, "maps", r.queue)
	require.NoError(t, err)
	made := tracing.Enqueue(events, keys, func(q control.Adder[index.Key]) typed.Handler[*corev1.ConfigMap] {
		assert.True(t, q == control.Adder[index.Key](keys))
		return h
	})
	assert.True(t, made == h)
	config := &rest.Config{Host: "localhost"}
	assert.Nil(t, tracing.Transport(nil, config).WrapTransport)
	assert.Nil(t, tracing.Transport(r.tracer, nil))
	running(t, func(ctx context.Context) error {
		return keys.Run(ctx, 1, func(context.Context, index.Key) error { return nil })
	})
}

// mapName is what is kept of a ConfigMap: it has no version.
type mapName struct{ namespace, name string }

func (m mapName) GetNamespace() string { return m.namespace }
func (m mapName) GetName() string      { return m.name }
