package panics_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

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

// recorded runs a source until the test ends, with a sink that is no informer.
func recorded[T index.Object](t *testing.T, src source.Source[T]) *sinktest.Recorder[T] {
	end := &sinktest.Recorder[T]{}
	t.Cleanup(background(func(ctx context.Context) error { return src.Run(ctx, end) }))
	synctest.Wait()
	return end
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
		informer := start(t, view.Map(set.View(), func(o thing) thing {
			if o.Version == 2 {
				p.here()
			}
			return rig.At("of "+o.Name, o.Version)
		}))
		set.Put(rig.At("a", 2), rig.At("b", 3))
		synctest.Wait()
		a, _ := informer.Get(rig.Key("of a"))
		b, _ := informer.Get(rig.Key("of b"))
		assert.Equal(t, []thing{rig.At("of a", 1), rig.At("of b", 3)}, []thing{a, b})
		assert.Equal(t, 1, informer.Status().RejectedNow)
		set.Put(rig.At("a", 4))
		synctest.Wait()
		a, _ = informer.Get(rig.Key("of a"))
		assert.Equal(t, rig.At("of a", 4), a)
		assert.Zero(t, informer.Status().RejectedNow)
	}},
	"view.Metrics": {run: func(t *testing.T, p *planted) {
		set := view.NewSet(rig.At("a", 1))
		informer := start(t, view.Map(set.View(), func(o thing) thing { return o }, view.WithMetrics(viewMetrics{p})))
		set.Put(rig.At("b", 2))
		synctest.Wait()
		assert.Equal(t, 2, informer.Len())
	}},
	"fleet.NewSource": {contained: true, run: func(t *testing.T, p *planted) {
		clusters, err := fleet.NewClusters(fleet.Cluster{Name: "bad"}, fleet.Cluster{Name: "good"})
		require.NoError(t, err)
		src := fleet.NewSource(clusters, func(c fleet.Cluster) source.Source[*corev1.Pod] {
			if c.Name == "bad" {
				p.here()
			}
			return source.Map(lists(rig.At("a", 1)), func(o thing) *corev1.Pod { return rig.NewPod(o.Name, "") })
		})
		reports, errs := recorded[fleet.InCluster[*corev1.Pod]](t, src).Take()
		require.Len(t, reports, 1)
		assert.Len(t, reports[0].List.Items, 1)
		assert.ErrorContains(t, errors.Join(errs...), "the source has panicked: "+planting)
		require.NoError(t, clusters.Put(fleet.Cluster{Name: "bad"}))
		time.Sleep(time.Minute)
		bad, _ := src.StatusOf("bad")
		assert.Equal(t, fleet.PhaseSynced, bad.Phase)
		assert.NoError(t, bad.Err)
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
