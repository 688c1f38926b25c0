package control_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
)

// A controller that gives each node a pod. A node is processed again when the
// informer has seen the pod that was created, so there is never a second one.
func ExampleExpectations() {
	client, shutdown := rig.NewCluster()
	defer shutdown()
	q, err := queue.NewWorkQueue[string]()
	if err != nil {
		log.Fatal(err)
	}
	expectations, err := control.NewExpectations(q)
	if err != nil {
		log.Fatal(err)
	}
	pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods("default")))
	byNode := index.Single("node", func(p *corev1.Pod) (string, bool) { return p.Spec.NodeName, true })
	if err := pods.AddIndexes(byNode); err != nil {
		log.Fatal(err)
	}
	ctx, stop := rig.RunInBackground(pods.Run)
	defer stop()
	if err := pods.WaitForSync(ctx); err != nil {
		log.Fatal(err)
	}

	reconcile := func(ctx context.Context, node string) error {
		if byNode.Len(node) > 0 {
			fmt.Println("node", node, "has", byNode.Len(node))
			q.ShutDown()
			return nil
		}
		fmt.Println("create one for node", node)
		created, err := client.CoreV1().Pods("default").Create(ctx, rig.NewPod("agent-"+node, node), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		q.Add(node) // whatever happens
		return expectations.Expect(node, pods, created.ResourceVersion)
	}
	q.Add("a")
	if err := q.Run(ctx, 2, expectations.Wrap(reconcile)); err != nil {
		log.Fatal(err)
	}
	// Output:
	// create one for node a
	// node a has 1
}
