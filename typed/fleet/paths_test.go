package fleet_test

import (
	"iter"
	"testing"
	"testing/synctest"

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

// TestPaths: all reports of a cluster reach the informer. The version is that of all clusters, and
// comes on request, or with lists.
func TestPaths(t *testing.T) {
	sinktest.Path[*corev1.Pod, inCluster]{
		Begin: sinktest.Over(func(src source.Source[*corev1.Pod]) source.Source[inCluster] {
			clusters, err := fleet.NewClusters(fleet.Cluster{Name: "one"})
			require.NoError(t, err)
			return fleet.NewSource(clusters, func(fleet.Cluster) source.Source[*corev1.Pod] { return src })
		}),
		Object: at("a", 1), Back: func(in inCluster) *corev1.Pod { return in.Object }, Held: true, Compares: true,
		Key: func(key index.Key) index.Key { return fleet.Key("one", key.Namespace, key.Name) },
		Version: func(method, version string) string {
			if method == "Bookmark" || method == "Replace" {
				return "one=" + version
			}
			return ""
		},
	}.Test(t)
}

// TestOmits: a fleet reports that a cluster's source leaves a field out.
func TestOmits(t *testing.T) {
	sinktest.Omits(t, true, func(src source.Source[*corev1.Pod]) source.Source[inCluster] {
		clusters, err := fleet.NewClusters(fleet.Cluster{Name: "one"})
		require.NoError(t, err)
		return fleet.NewSource(clusters, func(fleet.Cluster) source.Source[*corev1.Pod] { return src })
	})
}

// TestDerives: a fleet leads to the source of each cluster.
func TestDerives(t *testing.T) {
	sinktest.Derives(t, true, func(src source.Source[*corev1.Pod]) source.Source[inCluster] {
		clusters, err := fleet.NewClusters(fleet.Cluster{Name: "one"})
		require.NoError(t, err)
		return fleet.NewSource(clusters, func(fleet.Cluster) source.Source[*corev1.Pod] { return src })
	})
}

// TestDiamonds: a view of a fleet, and of what a cluster's source turns out to be a view of, ends
// with an error that names both ways.
func TestDiamonds(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		set := view.NewSet(at("a", 1))
		clusters, err := fleet.NewClusters()
		require.NoError(t, err)
		of := typed.NewInformer(fleet.NewSource(clusters, func(fleet.Cluster) source.Source[*corev1.Pod] { return set.View() }), typed.WithName("clusters"))
		rig.Start(t, of)
		joined := typed.NewInformer(view.JoinOn(set.View(), view.Of(of), view.Name[*corev1.Pod](), view.Name[inCluster](),
			func(obj *corev1.Pod, _ iter.Seq[inCluster]) (*row, bool) { return &row{name: obj.Name}, true }))
		ended := make(chan error, 1)
		go func() { ended <- joined.Run(t.Context()) }()
		synctest.Wait()
		assert.Equal(t, 1, joined.Len())
		require.NoError(t, clusters.Put(fleet.Cluster{Name: "one"}))
		synctest.Wait()
		require.NotEmpty(t, ended, "it goes on")
		err = <-ended
		assert.ErrorContains(t, err, "in two ways")
		assert.ErrorContains(t, err, set.Name()+" → clusters")
	})
}
