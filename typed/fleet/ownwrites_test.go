package fleet_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// TestFleetsRefuseWrites: an own write may come before the watch has its version, and a fleet
// compares versions.
func TestFleetsRefuseWrites(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		writes := kube.NewWrites()
		clusters, err := fleet.NewClusters(fleet.Cluster{Name: "east", Config: writes.Config(apitest.Start(t).Config())})
		require.NoError(t, err)
		east := fleet.NewSource(clusters, func(c fleet.Cluster) source.Source[*corev1.Pod] {
			return kube.FromREST[*corev1.Pod](c.Config, kube.WithWrites(writes))
		})
		all := typed.NewInformer(east)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- all.Run(ctx) }()
		minute, end := context.WithTimeout(ctx, time.Minute)
		defer end()
		const compares = "WithWrites: a fleet compares the versions of its clusters; use Expectations"
		assert.ErrorContains(t, all.WaitForSync(minute), compares)
		assert.ErrorContains(t, east.Status()[0].Err, compares)
		cancel()
		<-ended
	})
}
