// Command nodes lists the Nodes of a zone, by a factory, an informer and a lister: what
// programs do with informers.NewSharedInformerFactory.
//
//	go run ./examples/nodes [-kubeconfig FILE]
package main

import (
	"context"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/examples/internal/demo"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/lister"
	"github.com/kubetyped/informer/typed/kube"
)

func main() { demo.Main(run) }

func run(ctx context.Context, config *rest.Config, out io.Writer) error {
	// A factory has one informer for each type, selector and namespace, however many parts of
	// the program ask for it. It runs until Shutdown, or until it has no users.
	factory := kube.NewFactory(config)
	defer factory.Shutdown()
	nodes, err := kube.For[*corev1.Node](factory)
	if err != nil {
		return err
	}
	defer nodes.Release()

	// Both of several users of the same informer may ask for the index.
	if _, err := index.Ensure(nodes, index.Labels[*corev1.Node](corev1.LabelTopologyZone)); err != nil {
		return err
	}

	syncing, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := nodes.WaitForSync(syncing); err != nil {
		return err
	}

	// The lister uses the index by itself.
	inZone, err := lister.New(nodes).List(labels.SelectorFromSet(labels.Set{corev1.LabelTopologyZone: "a"}))
	if err != nil {
		return err
	}
	for _, node := range inZone {
		fmt.Fprintln(out, node.Name)
	}
	_, err = lister.New(nodes).Get("nobody")
	fmt.Fprintln(out, err)
	return nil
}
