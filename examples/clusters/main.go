// Command clusters counts the Pods of each application in two clusters. Every cluster
// has an informer of its own, and an index of its own that does the same.
//
//	go run ./examples/clusters [-kubeconfig FILE]
package main

import (
	"context"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/examples/internal/demo"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

func main() { demo.Main(both) }

// both counts in one cluster twice, which is all that a demonstration has.
func both(ctx context.Context, config *rest.Config, out io.Writer) error {
	return count(ctx, map[string]*rest.Config{"east": config, "west": rest.CopyConfig(config)}, out)
}

// cluster is what is known of a cluster.
type cluster struct {
	pods  *typed.Informer[*corev1.Pod]
	byApp *index.Index[string, *corev1.Pod]
}

var byApp = index.Single("app", func(p *corev1.Pod) (string, bool) {
	app, ok := p.Labels["app"]
	return app, ok
})

func count(ctx context.Context, configs map[string]*rest.Config, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	group, ctx := errgroup.WithContext(ctx)
	clusters := map[string]*cluster{}
	for name, config := range configs {
		c := &cluster{
			pods:  typed.NewInformer(kube.FromREST[*corev1.Pod](config), typed.WithName("pods of "+name)),
			byApp: byApp.Clone(),
		}
		if err := c.pods.AddIndexes(c.byApp); err != nil {
			stop()
			return err
		}
		clusters[name] = c
		group.Go(func() error { return c.pods.Run(ctx) })
	}
	group.Go(func() error {
		defer stop()
		for _, c := range clusters {
			if err := c.pods.WaitForSync(ctx); err != nil {
				return err // it has the name of the informer
			}
		}
		for _, name := range []string{"east", "west"} {
			fmt.Fprintf(out, "%s: %d Pods of web\n", name, clusters[name].byApp.Len("web"))
		}
		return nil
	})
	return group.Wait()
}
