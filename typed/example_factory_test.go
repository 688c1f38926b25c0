package typed_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// Parts of a program that need the same informer each ask for it, and release it.
func ExampleShare() {
	client, shutdown := rig.NewCluster(rig.NewPod("web-0", "node-1"))
	defer shutdown()
	type podsIn string // the key of an informer
	src := func() source.Source[*corev1.Pod] { return kube.FromClient(client.CoreV1().Pods("default")) }

	factory := typed.NewFactory(typed.WithTransform(kube.StripManagedFields[metav1.Object]))
	defer factory.Shutdown()
	for range 2 {
		pods, err := typed.Share(factory, podsIn("default"), src)
		if err != nil {
			log.Fatal(err)
		}
		defer pods.Release()
		if err := pods.WaitForSync(context.Background()); err != nil {
			log.Fatal(err)
		}
		fmt.Println("Pods:", pods.Len())
	}
	fmt.Println("informers:", len(factory.Status()))
	// Output:
	// Pods: 1
	// Pods: 1
	// informers: 1
}
