// Command podcount is the controller of the README: it prints how many Pods a Node has,
// whenever that changes, in the cluster of your kubeconfig.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		log.Fatal(err)
	}
	if err := run(ctx, config, func(node string, n int) { fmt.Println(node, n) }); err != nil {
		log.Fatal(err)
	}
}

// run calls report when the number of Pods of a Node may have changed, until ctx ends.
func run(ctx context.Context, config *rest.Config, report func(node string, n int)) error {
	pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config)) // lists and watches
	byNode := index.Single("node", nodeOf)
	nodes, err1 := queue.NewWorkQueue[string]()
	err2 := pods.AddIndexes(byNode)
	_, err3 := pods.Handle(control.EnqueueKey(nodes, nodeOf)) // a change adds the Node's name
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	reconcile := func(ctx context.Context, node string) error { // an error retries the key
		report(node, byNode.Len(node))
		return nil
	}
	return control.Run(ctx, control.WithInformers(pods), control.WithWorkers(nodes, 2, reconcile))
}

func nodeOf(p *corev1.Pod) (string, bool) { return p.Spec.NodeName, p.Spec.NodeName != "" }
