// Command views computes collections from the objects of a cluster, and keeps them up to
// date: the endpoints of Services by zone, the load of Nodes, Deployments to restart after
// a change of their configuration, what the proxies of Gateways have to know, and the usage
// of quotas. Each has its own file.
//
//	go run ./examples/views                    # on its own API server, which changes
//	go run ./examples/views -kubeconfig FILE   # once, on a cluster, except the Gateways
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/view"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "use the cluster of this `file` instead of one in memory")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *kubeconfig, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "views:", err)
		os.Exit(1)
	}
}

// run prints the views of a cluster, or those of the server that it starts, while that changes.
func run(ctx context.Context, kubeconfig string, out io.Writer) (err error) {
	if kubeconfig != "" {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return err
		}
		return watch(ctx, config, false, func(_ context.Context, _ *inputs, c *collections) error {
			c.print(out)
			return nil
		})
	}
	srv, err := apitest.NewServer(served(), apitest.WithObjects(shop()...))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.Close()) }()
	return watch(ctx, srv.Config(), true, func(ctx context.Context, in *inputs, c *collections) error {
		return play(ctx, srv, in, c, out)
	})
}

// inputs are the informers that views are made of.
type inputs struct {
	services    *view.View[*corev1.Service]
	pods        *view.View[*corev1.Pod]
	nodes       *view.View[*corev1.Node]
	configMaps  *view.View[*corev1.ConfigMap]
	secrets     *view.View[*corev1.Secret]
	replicaSets *view.View[*appsv1.ReplicaSet]
	quotas      *view.View[*corev1.ResourceQuota]
	slices      *view.View[*discoveryv1.EndpointSlice]
	gateways    *view.View[*Gateway] // nil: the cluster has none
	routes      *view.View[*Route]
}

// input is the objects of an informer that a factory runs.
func input[T index.Object](f *kube.Factory, errs *[]error, opts ...kube.ForOption) *view.View[T] {
	informer, err := kube.For[T](f, opts...)
	*errs = append(*errs, err)
	if err != nil {
		return nil
	}
	return view.Of(informer)
}

func newInputs(f *kube.Factory, withGateways bool) (*inputs, error) {
	var errs []error
	in := &inputs{
		services:    input[*corev1.Service](f, &errs),
		pods:        input[*corev1.Pod](f, &errs),
		nodes:       input[*corev1.Node](f, &errs),
		configMaps:  input[*corev1.ConfigMap](f, &errs),
		secrets:     input[*corev1.Secret](f, &errs),
		replicaSets: input[*appsv1.ReplicaSet](f, &errs),
		quotas:      input[*corev1.ResourceQuota](f, &errs),
		slices:      input[*discoveryv1.EndpointSlice](f, &errs),
	}
	if withGateways {
		in.gateways = input[*Gateway](f, &errs, kube.WithResource(gateways))
		in.routes = input[*Route](f, &errs, kube.WithResource(routes))
	}
	return in, errors.Join(errs...)
}

// watch runs the views of a cluster while f runs.
func watch(ctx context.Context, config *rest.Config, withGateways bool, f func(context.Context, *inputs, *collections) error) error {
	factory := kube.NewFactory(config)
	defer factory.Shutdown()
	in, err := newInputs(factory, withGateways)
	if err != nil {
		return err
	}
	c := newCollections(in)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	c.run(ctx, group)
	group.Go(func() error {
		defer stop()
		syncing, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		if err := c.waitForSync(syncing); err != nil {
			return err
		}
		return f(ctx, in, c)
	})
	return group.Wait()
}
