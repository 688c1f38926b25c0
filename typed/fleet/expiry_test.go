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

	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/source"
)

// waitingSink waits before it takes in that objects have gone.
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

// TestOneSourceRunsAfterExpiry: a cluster that changes or leaves while its objects expire has one source
// or none after that, not also the one that lists it again.
func TestOneSourceRunsAfterExpiry(t *testing.T) {
	for name, change := range map[string]func(clusters *fleet.Clusters) error{
		"changes": func(clusters *fleet.Clusters) error {
			return clusters.Put(fleet.Cluster{Name: "east", Config: &rest.Config{Host: "other"}})
		},
		"leaves": func(clusters *fleet.Clusters) error {
			clusters.Remove("east")
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := prepareWorld(t, []string{"east"}, fleet.WithExpiry(time.Minute))
				sink := &waitingSink{goOn: make(chan struct{})}
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { assert.NoError(t, w.source.Run(ctx, sink)) })
				w.list("east", 1, at("a", 1))
				w.of("east").Report(errors.New("away"))
				time.Sleep(time.Minute)
				synctest.Wait()
				require.NoError(t, change(w.clusters))
				synctest.Wait()
				close(sink.goOn)
				synctest.Wait()
				for i, s := range w.scripts["east"] {
					runs := name == "changes" && i == len(w.scripts["east"])-1
					assert.Equal(t, runs, s.ctx != nil && s.ctx.Err() == nil, "source %d", i)
				}
				cancel()
				running.Wait()
			})
		})
	}
}
