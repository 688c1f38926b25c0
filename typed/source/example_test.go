package source_test

import (
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// podNode is all that the program of ExampleMap needs of a Pod.
type podNode struct{ namespace, name, node string }

func (p podNode) GetNamespace() string { return p.namespace }
func (p podNode) GetName() string      { return p.name }

// An informer that keeps three strings of each Pod.
func ExampleMap() {
	client, shutdown := rig.NewCluster(rig.NewPod("web-0", "node-1"))
	defer shutdown()

	pods := typed.NewInformer(source.Map(
		kube.FromClient(client.CoreV1().Pods(metav1.NamespaceAll)),
		func(p *corev1.Pod) podNode { return podNode{p.Namespace, p.Name, p.Spec.NodeName} },
	))

	ctx, stop := rig.RunInBackground(pods.Run)
	defer stop()
	if err := pods.WaitForSync(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v\n", pods.List())
	// Output:
	// [{namespace:default name:web-0 node:node-1}]
}

// An informer that keeps only Pods that have a node, and no managed fields.
func ExampleFilterMap() {
	client, shutdown := rig.NewCluster(rig.NewPod("web-0", "node-1"), rig.NewPod("web-1", ""))
	defer shutdown()

	scheduled := typed.NewInformer(
		source.FilterMap(
			kube.FromClient(client.CoreV1().Pods(metav1.NamespaceAll)),
			func(p *corev1.Pod) (*corev1.Pod, bool) { return p, p.Spec.NodeName != "" },
		),
		typed.WithTransform(kube.StripManagedFields[*corev1.Pod]),
	)

	ctx, stop := rig.RunInBackground(scheduled.Run)
	defer stop()
	if err := scheduled.WaitForSync(ctx); err != nil {
		log.Fatal(err)
	}
	for p := range scheduled.All() {
		fmt.Println(p.Name, "is on", p.Spec.NodeName)
	}
	// Output:
	// web-0 is on node-1
}

// An informer of the namespaces that a user may see, which change.
func ExampleFromNamespaces() {
	client, shutdown := rig.NewCluster(podIn("tenant-a"), podIn("tenant-b"), podIn("tenant-c"))
	defer shutdown()

	tenants := source.NewNamespaces("tenant-a", "tenant-b")
	pods := typed.NewInformer(source.FromNamespaces(tenants, func(namespace string) source.Source[*corev1.Pod] {
		return kube.FromClient(client.CoreV1().Pods(namespace))
	}))

	ctx, stop := rig.RunInBackground(pods.Run)
	defer stop()
	if err := pods.WaitForSync(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(pods.Len(), "pods")

	tenants.Remove("tenant-a")
	if err := tenants.Add("tenant-c"); err != nil {
		log.Fatal(err)
	}
	for range pods.Events(ctx).All() {
		if len(pods.ListNamespace("tenant-a")) == 0 && len(pods.ListNamespace("tenant-c")) == 1 {
			break
		}
	}
	fmt.Println(pods.Len(), "pods")
	// Output:
	// 2 pods
	// 2 pods
}

func podIn(namespace string) *corev1.Pod {
	pod := rig.NewPod("web", "node-1")
	pod.Namespace = namespace
	return pod
}
