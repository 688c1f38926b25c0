package fleet_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/source"
)

// TestPaths: nothing of what is reported of a cluster is lost on the way to the informer. The
// version is that of all clusters, and told when it is asked for, or with lists.
func TestPaths(t *testing.T) {
	sinktest.Path[*thing, inCluster]{
		Begin: sinktest.Over(func(src source.Source[*thing]) source.Source[inCluster] {
			clusters, err := fleet.NewClusters(fleet.Cluster{Name: "one"})
			require.NoError(t, err)
			return fleet.NewSource(clusters, func(fleet.Cluster) source.Source[*thing] { return src })
		}),
		Object: at("a", 1), Back: func(in inCluster) *thing { return in.Object }, Held: true, Compares: true,
		Key: func(key index.Key) index.Key { return fleet.Key("one", key.Namespace, key.Name) },
		Version: func(method, version string) string {
			if method == "Bookmark" || method == "Replace" {
				return "one=" + version
			}
			return ""
		},
	}.Test(t)
}

// TestOmits: a fleet tells that a cluster's source leaves a field out.
func TestOmits(t *testing.T) {
	sinktest.Omits(t, true, func(src source.Source[*thing]) source.Source[inCluster] {
		clusters, err := fleet.NewClusters(fleet.Cluster{Name: "one"})
		require.NoError(t, err)
		return fleet.NewSource(clusters, func(fleet.Cluster) source.Source[*thing] { return src })
	})
}
