// Command watch follows the Pods that two selectors leave, as a loop: what kubectl get
// --watch does, and no handler.
//
//	go run ./examples/watch [-kubeconfig FILE] [-for 1m]
package main

import (
	"context"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/examples/internal/demo"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

func main() { demo.Main(run) }

func run(ctx context.Context, config *rest.Config, out io.Writer) error {
	pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config,
		kube.WithNamespace("default"),
		kube.WithLabelSelector(labels.SelectorFromSet(labels.Set{"app": "web"})),
		kube.WithFieldSelector(fields.OneTermEqualSelector("spec.nodeName", "node-b")),
	))
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return pods.Run(ctx) })
	group.Go(func() error {
		// The loop ends when ctx does, or the informer.
		for e := range pods.Events(ctx).All() {
			switch e.Type {
			case index.Added:
				fmt.Fprintf(out, "+ %s on %s\n", e.New.Name, e.New.Spec.NodeName)
			case index.Updated:
				fmt.Fprintf(out, "~ %s %s -> %s\n", e.New.Name, e.Old.ResourceVersion, e.New.ResourceVersion)
			case index.Deleted:
				fmt.Fprintf(out, "- %s\n", e.Old.Name)
			}
		}
		return nil
	})
	return group.Wait()
}
