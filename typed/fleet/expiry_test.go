package fleet_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/source"
)

// waitingSink waits before it takes in that objects have gone, or a change.
type waitingSink struct {
	sinktest.Recorder[inCluster]
	goOn chan struct{}
}

func (s *waitingSink) Replace(l source.List, version string) {
	if len(l.Gone) > 0 {
		<-s.goOn
	}
	s.Recorder.Replace(l, version)
}

func (s *waitingSink) Change(c index.Change[inCluster], version string) {
	<-s.goOn
	s.Recorder.Change(c, version)
}

// TestOneSourceRunsAfterExpiry: a cluster that changes or leaves while its objects expire, or are about to,
// has one source or none after that, not also the one that lists it again.
func TestOneSourceRunsAfterExpiry(t *testing.T) {
	changes := func(w *world) {
		require.NoError(t, w.clusters.Put(fleet.Cluster{Name: "east", Config: &rest.Config{Host: "other"}}))
	}
	leaves := func(w *world) { w.clusters.Remove("east") }
	expires := func(*world) { time.Sleep(time.Minute) }
	blocks := func(w *world) {
		east := w.of("east")
		go sinktest.Put(east, at("a", 2), "2")
	}
	for _, c := range []struct {
		name    string
		in      []func(w *world) // order; the sink waits meanwhile
		sources []string         // that run in the end, by their hosts
	}{
		{"changes", []func(*world){expires, changes}, []string{"other"}},
		{"leaves", []func(*world){expires, leaves}, nil},
		{"changes before", []func(*world){blocks, changes, expires}, []string{"other"}},
		{"leaves before", []func(*world){blocks, leaves, expires}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := prepareWorld(t, nil, fleet.WithExpiry(time.Minute))
				require.NoError(t, w.clusters.Put(fleet.Cluster{Name: "east", Config: &rest.Config{Host: "first"}}))
				sink := &waitingSink{goOn: make(chan struct{})}
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { assert.NoError(t, w.source.Run(ctx, sink)) })
				w.list("east", 1, at("a", 1))
				w.of("east").Report(errors.New("away"))
				for _, next := range c.in {
					next(w)
					synctest.Wait()
				}
				close(sink.goOn)
				synctest.Wait()
				var sources []string
				for _, s := range w.scripts["east"] {
					if s.ctx.Err() == nil {
						sources = append(sources, s.cluster.Config.Host)
					}
				}
				assert.Equal(t, c.sources, sources)
				cancel()
				running.Wait()
			})
		})
	}
}
