package adapters_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// A program that has a factory of shared informers writes new code on typed ones,
// without a second list and watch.
func ExampleFromShared() {
	client := fake.NewClientset(
		&corev1.Pod{ObjectMeta: readerPod("default", "web-0", "web").ObjectMeta, Spec: corev1.PodSpec{NodeName: "node-1"}},
		&corev1.Pod{ObjectMeta: readerPod("default", "web-1", "web").ObjectMeta, Spec: corev1.PodSpec{NodeName: "node-2"}},
	)
	factory := informers.NewSharedInformerFactory(client, 0)

	pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](factory.Core().V1().Pods().Informer()))
	byNode := index.Single("node", func(p *corev1.Pod) (string, bool) {
		return p.Spec.NodeName, p.Spec.NodeName != ""
	})
	if err := pods.AddIndexes(byNode); err != nil {
		log.Fatal(err)
	}

	ctx, stop := context.WithCancel(context.Background())
	factory.StartWithContext(ctx) // as it is started already
	var running sync.WaitGroup
	running.Go(func() {
		if err := pods.Run(ctx); err != nil {
			log.Print(err)
		}
	})
	if err := pods.WaitForSync(ctx); err != nil {
		log.Fatal(err)
	}
	for pod := range byNode.All("node-2") {
		fmt.Println("on node-2:", pod.Name)
	}

	stop()
	running.Wait()
	factory.Shutdown()
	// Output: on node-2: web-1
}

// The same for a resource that is known by its name.
func ExampleFromFactory() {
	factory := informers.NewSharedInformerFactory(fake.NewClientset(readerPod("default", "web-0", "web")), 0)
	pods := typed.NewInformer(adapters.FromFactory[*corev1.Pod](factory, corev1.SchemeGroupVersion.WithResource("pods")))

	ctx, stop := context.WithCancel(context.Background())
	factory.StartWithContext(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		if err := pods.Run(ctx); err != nil {
			log.Print(err)
		}
	})
	if err := pods.WaitForSync(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("pods:", pods.Len())

	stop()
	running.Wait()
	factory.Shutdown()
	// Output: pods: 1
}
