package fleet_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/internal/rig"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
	"github.com/kubetyped/informer/typed/typedtest"
)

// TestPutOfAnotherServer: a version of the server that a cluster is now has nothing to do
// with those that were reached on the one that it was.
func TestPutOfAnotherServer(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		before, now := typedtest.Start(t), typedtest.Start(t)
		for _, name := range []string{"a", "b", "c", "d"} {
			require.NoError(t, before.Create(t.Context(), rig.NewPod(name, "node")))
		}
		clusters, err := fleet.NewClusters(fleet.Cluster{Name: "east", Config: before.Config()})
		require.NoError(t, err)
		pods := fleet.NewSource(clusters, func(c fleet.Cluster) source.Source[*corev1.Pod] { return kube.FromREST[*corev1.Pod](c.Config) })
		informer := typed.NewInformer(pods)
		ctx, cancel := context.WithCancel(t.Context())
		ended := call(func() error { return informer.Run(ctx) })
		require.NoError(t, pods.WaitForSync(ctx))

		now.Inject(typedtest.Fault{Latency: time.Second})
		require.NoError(t, now.Create(t.Context(), rig.NewPod("new", "node")))
		require.NoError(t, clusters.Put(fleet.Cluster{Name: "east", Config: now.Config()}))
		require.NoError(t, pods.WaitForResourceVersion(ctx, "east", now.ResourceVersion()))
		assert.Equal(t, 1, informer.Len())
		_, ok := informer.Get(fleet.Key("east", "default", "new"))
		assert.True(t, ok)
		cancel()
		assert.NoError(t, <-ended)
	})
}
