package examples_test

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// The code of docs/how-to/clusters.md. It is compiled and not run: examples/fleet runs.
var (
	_ = followClusters
	_ = reconcileInCluster
)

func followClusters(ctx context.Context, east, west *rest.Config, factory *typed.Factory) error {
	clusters, err := fleet.NewClusters(fleet.Cluster{Name: "east", Config: east}, fleet.Cluster{Name: "west", Config: west})
	if err != nil {
		return err
	}
	pods := fleet.NewSource(clusters, func(c fleet.Cluster) source.Source[*corev1.Pod] {
		return kube.FromREST[*corev1.Pod](c.Config, kube.WithoutFields("metadata.managedFields"))
	})
	informer := typed.NewInformer(pods, typed.WithName("pods of all clusters"))

	shared, err := typed.Share(factory, pods, func() source.Source[fleet.InCluster[*corev1.Pod]] { return pods })
	if err != nil {
		return err
	}
	defer shared.Release()
	return informer.Run(ctx)
}

func reconcileInCluster(ctx context.Context, queued index.Key, informer *typed.Informer[fleet.InCluster[*corev1.Pod]], pods *fleet.Source[*corev1.Pod],
	east kubernetes.Interface, pod *corev1.Pod, expectations *control.Expectations[index.Key],
) error {
	{
		pod, ok := informer.Get(fleet.Key("east", "shop", "web-0"))
		cluster, key := fleet.Split(queued) // a reconcile begins so
		_, _, _, _ = pod, ok, cluster, key
	}
	cluster, key := fleet.Split(queued)
	created, err := east.CoreV1().Pods("shop").Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	err = pods.WaitForResourceVersion(ctx, "east", created.ResourceVersion)
	if err != nil {
		return err
	}
	err = expectations.Expect(key, fleet.NewObserver(informer, pods, cluster), created.ResourceVersion)
	return err
}
