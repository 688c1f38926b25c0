package fleet_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// TestPutOfAnotherServer: a version of the server that a cluster is now has nothing to do
// with those that were reached on the one that it was.
func TestPutOfAnotherServer(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		before, now := apitest.Start(t), apitest.Start(t)
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

		now.Inject(apitest.Fault{Latency: time.Second})
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

// TestReleasedByPut: when a cluster is put again, its new source reports whether missing objects
// are deleted, or belong to another process.
func TestReleasedByPut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []string{"east"})
		w.list("east", 1, at("gone", 1), at("released", 1), at("stays", 1))
		w.next()
		require.NoError(t, w.clusters.Put(fleet.Cluster{Name: "east", Config: &rest.Config{Host: "east"}}))
		to := w.of("east")
		to.Replace(source.List{
			Items: sinktest.StageAll(to, at("come", 2), at("stays", 2)), Reason: index.Acquired,
			Released: func(key index.Key) bool { return key == index.Key{Namespace: "ns", Name: "released"} },
		}, "2")
		events := w.next()
		assert.Contains(t, events, "Deleted Released east/ns/released@1")
		assert.Contains(t, events, "Added Acquired east/ns/come@2")
		assert.Contains(t, events, "Updated Acquired east/ns/stays@2")
		assert.Len(t, events, 4)
		assert.NotContains(t, events, "Deleted Released east/ns/gone@1", "it is gone, so its key has to be worked on")
		assert.Equal(t, []string{"east/ns/come@2", "east/ns/stays@2"}, w.keys())
	})
}
