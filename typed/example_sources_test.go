package typed_test

import (
	"context"
	"fmt"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/internal/rig"
	"github.com/kubetyped/informer/typed/typedtest"
)

// podNode is all that the program of ExampleMap needs of a Pod.
type podNode struct{ namespace, name, node string }

func (p podNode) GetNamespace() string { return p.namespace }
func (p podNode) GetName() string      { return p.name }

// An informer that keeps three strings of each Pod.
func ExampleMap() {
	client, shutdown := rig.NewCluster(rig.NewPod("web-0", "node-1"))
	defer shutdown()

	pods := typed.NewInformer(typed.Map(
		typed.FromClient(client.CoreV1().Pods(metav1.NamespaceAll)),
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
		typed.FilterMap(
			typed.FromClient(client.CoreV1().Pods(metav1.NamespaceAll)),
			func(p *corev1.Pod) (*corev1.Pod, bool) { return p, p.Spec.NodeName != "" },
		),
		typed.WithTransform(typed.StripManagedFields[*corev1.Pod]),
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

// An informer of the namespaces that somebody may see, which change.
func ExampleFromNamespaces() {
	client, shutdown := rig.NewCluster(podIn("tenant-a"), podIn("tenant-b"), podIn("tenant-c"))
	defer shutdown()

	tenants := typed.NewNamespaces("tenant-a", "tenant-b")
	pods := typed.NewInformer(typed.FromNamespaces(tenants, func(namespace string) typed.Source[*corev1.Pod] {
		return typed.FromClient(client.CoreV1().Pods(namespace))
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
	for range pods.Events(ctx) {
		if len(pods.ListNamespace("tenant-a")) == 0 && len(pods.ListNamespace("tenant-c")) == 1 {
			break
		}
	}
	fmt.Println(pods.Len(), "pods")
	// Output:
	// 2 pods
	// 2 pods
}

// Two clusters, each with a factory of its own. Parts of a program that need the
// same informer each take a lease, and give it back.
func ExampleShare() {
	type allPods struct{} // the key of the informer
	source := func(config *rest.Config) typed.Source[*corev1.Pod] {
		return typed.FromClient(kubernetes.NewForConfigOrDie(config).CoreV1().Pods(metav1.NamespaceAll))
	}

	clusters := map[string][]string{"east": {"web-0", "web-1"}, "west": {"web-0"}}
	factories := map[string]*typed.Factory{}
	for cluster, names := range clusters {
		srv, err := typedtest.NewServer()
		if err != nil {
			log.Fatal(err)
		}
		defer srv.Close()
		for _, name := range names {
			if err := srv.Create(context.Background(), rig.NewPod(name, cluster+"-node")); err != nil {
				log.Fatal(err)
			}
		}
		factories[cluster] = typed.NewFactory(srv.Config(), typed.WithTransform(typed.StripManagedFields[metav1.Object]))
		defer factories[cluster].Shutdown()
	}

	pods := map[string]*typed.Lease[*corev1.Pod]{}
	for cluster, factory := range factories {
		lease, err := typed.Share(factory, allPods{}, source, typed.WithName("pods of "+cluster))
		if err != nil {
			log.Fatal(err)
		}
		defer lease.Release()
		pods[cluster] = lease
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, factory := range factories {
		if err := factory.WaitForSync(ctx); err != nil {
			log.Fatal(err)
		}
	}
	for _, cluster := range []string{"east", "west"} {
		fmt.Println(pods[cluster].Name(), pods[cluster].Len())
	}
	// Output:
	// pods of east 2
	// pods of west 1
}

func podIn(namespace string) *corev1.Pod {
	pod := rig.NewPod("web", "node-1")
	pod.Namespace = namespace
	return pod
}
