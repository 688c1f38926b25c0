// Command first prints the Pods of the cluster of your kubeconfig as they come and go.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		log.Fatal(err)
	}

	pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config))
	byNode := index.Single("node", func(p *corev1.Pod) (string, bool) { return p.Spec.NodeName, p.Spec.NodeName != "" })
	if err := pods.AddIndexes(byNode); err != nil {
		log.Fatal(err)
	}
	_, err = pods.Handle(typed.HandlerFuncs[*corev1.Pod]{
		AddFunc: func(p *corev1.Pod, initial bool) {
			fmt.Println("+", p.Name, byNode.Len(p.Spec.NodeName), "on", p.Spec.NodeName)
		},
		DeleteFunc: func(d typed.Deleted[*corev1.Pod]) { fmt.Println("-", d.Object.Name, d.Reason) }, // never nil, never a tombstone
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := pods.Run(ctx); err != nil { // until Ctrl-C
		log.Fatal(err)
	}
}
