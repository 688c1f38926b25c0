// Package fleet is for programs that watch many clusters. A [Clusters] is a set of
// clusters, which may change at any time; a [Source] has the objects of all of them, for
// one informer:
//
//	clusters, err := fleet.NewClusters(
//		fleet.Cluster{Name: "east", Config: east},
//		fleet.Cluster{Name: "west", Config: west},
//	)
//	...
//	pods := fleet.NewSource(clusters, func(c fleet.Cluster) source.Source[*corev1.Pod] {
//		return kube.FromREST[*corev1.Pod](c.Config)
//	})
//	informer := typed.NewInformer(pods)
//
// Its objects are [InCluster], and their keys have the cluster, see [Key] and [Split].
package fleet
