package panics_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/source"
	"github.com/kubetyped/informer/typed/view"
)

// sourceFunc is a source that is a function.
type sourceFunc func(ctx context.Context, sink source.Sink[thing]) error

func (f sourceFunc) Run(ctx context.Context, sink source.Sink[thing]) error { return f(ctx, sink) }

// lists returns a source of one list.
func lists(objects ...thing) source.Source[thing] {
	return sourceFunc(func(ctx context.Context, sink source.Sink[thing]) error {
		sinktest.Replace(sink, "", objects, "1")
		<-ctx.Done()
		return nil
	})
}

// start runs an informer until the test ends.
func start[T index.Object](t *testing.T, src source.Source[T]) *typed.Informer[T] {
	informer := typed.NewInformer(src)
	t.Cleanup(background(informer.Run))
	synctest.Wait()
	return informer
}

// background calls run until stop is called, which waits for it.
func background(run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

// endsWith returns the row of a source that panics, which ends its informer.
func endsWith(words string, src func(p *planted) source.Source[thing]) row {
	return row{run: func(t *testing.T, p *planted) {
		informer := typed.NewInformer(src(p))
		err := informer.Run(t.Context())
		assert.ErrorContains(t, err, words)
		assert.ErrorIs(t, informer.WaitForSync(t.Context()), typed.ErrStopped)
	}}
}

// made is what views compute.
type made struct{ name, value string }

func (m made) GetNamespace() string { return "" }
func (m made) GetName() string      { return m.name }

// sourceRows are of what sources call.
var sourceRows = map[string]row{
	"source.Source": endsWith("source has panicked: "+planting, func(p *planted) source.Source[thing] {
		return sourceFunc(func(context.Context, source.Sink[thing]) error { p.here(); return nil })
	}),
	"source.FromNamespaces": endsWith("the source has panicked: "+planting, func(p *planted) source.Source[thing] {
		return source.FromNamespaces(source.NewNamespaces("a"), func(string) source.Source[thing] { p.here(); return nil })
	}),
	"source.FilterMap": {run: func(t *testing.T, p *planted) {
		s := rig.NewScript()
		var sink source.Sink[thing]
		informer := start(t, source.FilterMap(s, func(o thing) (thing, bool) {
			if o.Name == "bad" {
				p.here()
			}
			return o, true
		}))
		sink = <-s.Started
		sinktest.Replace(sink, "", []thing{rig.At("a", 1), rig.At("bad", 1), rig.At("b", 1)}, "1")
		synctest.Wait()
		assert.Equal(t, 2, informer.Len())
		assert.ErrorContains(t, informer.Rejected(rig.Key("bad")), "the function that projects has panicked: "+planting)
		sinktest.Put(sink, rig.At("bad", 2), "2")
		synctest.Wait()
		assert.Equal(t, 3, informer.Len())
	}},
	"view.Map": {contained: true, run: func(t *testing.T, p *planted) {
		set := view.NewSet(rig.At("a", 1))
		informer := start(t, view.Map(set.View(), func(o thing) made {
			if o.Version == 2 {
				p.here()
			}
			return made{o.Name, fmt.Sprint(o.Version)}
		}))
		set.Put(rig.At("a", 2), rig.At("b", 3))
		synctest.Wait()
		a, _ := informer.Get(index.Key{Name: "a"})
		b, _ := informer.Get(index.Key{Name: "b"})
		assert.Equal(t, []made{{"a", "1"}, {"b", "3"}}, []made{a, b})
		assert.Equal(t, 1, informer.Status().RejectedNow)
		set.Put(rig.At("a", 4))
		synctest.Wait()
		a, _ = informer.Get(index.Key{Name: "a"})
		assert.Equal(t, made{"a", "4"}, a)
		assert.Zero(t, informer.Status().RejectedNow)
	}},
	"view.Metrics": {run: func(t *testing.T, p *planted) {
		set := view.NewSet(rig.At("a", 1))
		informer := start(t, view.Map(set.View(), func(o thing) made { return made{o.Name, ""} }, view.WithMetrics(viewMetrics{p})))
		set.Put(rig.At("b", 2))
		synctest.Wait()
		assert.Equal(t, 2, informer.Len())
	}},
	"fleet.NewSource": {contained: true, run: func(t *testing.T, p *planted) {
		clusters, err := fleet.NewClusters(fleet.Cluster{Name: "bad"}, fleet.Cluster{Name: "good"})
		require.NoError(t, err)
		src := fleet.NewSource(clusters, func(c fleet.Cluster) source.Source[labeled] {
			if c.Name == "bad" {
				p.here()
			}
			return source.Map(lists(rig.At("a", 1)), newLabeled)
		})
		informer := start[fleet.InCluster[labeled]](t, src)
		assert.Equal(t, 1, informer.Len())
		assert.ErrorContains(t, informer.Status().Err, "the source has panicked: "+planting)
		require.NoError(t, clusters.Put(fleet.Cluster{Name: "bad"}))
		time.Sleep(time.Minute)
		assert.NoError(t, informer.WaitForSync(t.Context()))
	}},
	"fleet.Discover": {contained: true, run: func(t *testing.T, p *planted) {
		r := rig.New(t)
		clusters := &fleet.Clusters{}
		discovery, err := fleet.Discover(clusters, r.Informer, func(o thing) ([]fleet.Cluster, error) {
			if o.Name == "bad" {
				p.here()
			}
			return []fleet.Cluster{{Name: o.Name}}, nil
		})
		require.NoError(t, err)
		defer discovery.Close()
		r.Start()
		sinktest.Replace(r.Sink, "", []thing{rig.At("bad", 1), rig.At("good", 1)}, "1")
		synctest.Wait()
		assert.Len(t, clusters.All(), 1)
		require.Len(t, discovery.Failures(), 1)
		assert.ErrorContains(t, discovery.Failures()[0].Err, planting)
		sinktest.Put(r.Sink, rig.At("bad", 2), "2")
		synctest.Wait()
		assert.Len(t, clusters.All(), 2)
		assert.Empty(t, discovery.Failures())
	}},
}

type viewMetrics struct{ p *planted }

func (m viewMetrics) Computed(string, int, time.Duration) { m.p.here() }

// labeled is what a fleet takes.
type labeled = *metav1.PartialObjectMetadata

func newLabeled(o thing) labeled {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, ResourceVersion: "1"}}
}
