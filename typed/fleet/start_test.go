package fleet_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// TestSyncWaitsForLaterClusters: the informer is not synced by the list of the first cluster, even if
// that comes before the source of the second one runs. Whether it does is chance, hence many times.
func TestSyncWaitsForLaterClusters(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		for range 2000 {
			var clusters fleet.Clusters
			require.NoError(t, clusters.Add(fleet.Cluster{Name: "east"}, fleet.Cluster{Name: "west"}))
			informer := typed.NewInformer(fleet.NewSource(&clusters, func(c fleet.Cluster) source.Source[*corev1.Pod] {
				return run(func(ctx context.Context, sink source.Sink[*corev1.Pod]) error {
					if c.Name == "east" { // the other one says nothing
						sinktest.Replace(sink, "", []*corev1.Pod{at("a", 1)}, "1")
					}
					<-ctx.Done()
					return nil
				})
			}))
			ctx, cancel := context.WithCancel(t.Context())
			ended := call(func() error { return informer.Run(ctx) })
			runtime.Gosched()
			synctest.Wait()
			require.Equal(t, report.PhaseSyncing, informer.Phase())
			cancel()
			require.NoError(t, <-ended)
		}
	})
}
