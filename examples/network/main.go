// Command network is a controller of a custom resource without generated code: a
// struct, an informer and a writer of it, and a work queue. It checks whether the
// gateway of a Network is in its CIDR, and says so in the status.
//
//	go run ./examples/network                    # with its own API server
//	go run ./examples/network -kubeconfig FILE   # in a cluster, until Ctrl-C
//
// The cluster needs the CustomResourceDefinition of crd.yaml:
//
//	kubectl apply -f examples/network/crd.yaml
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubetyped/informer/apitest"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "work in the cluster of this `file` until Ctrl-C")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *kubeconfig, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "network:", err)
		os.Exit(1)
	}
}

// run runs a controller in a cluster until ctx ends, or shows one if there is none.
func run(ctx context.Context, kubeconfig string, out io.Writer) error {
	if kubeconfig == "" {
		return show(ctx, out)
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	c, err := newController(config)
	if err != nil {
		return err
	}
	return c.run(ctx)
}

// served is how an API server of tests serves Networks.
func served() apitest.Option {
	return apitest.WithResources(apitest.Resource{GroupVersionResource: networks, Kind: "Network", Status: true})
}

// show creates two Networks in its own server, and prints what becomes of them.
func show(ctx context.Context, out io.Writer) (err error) {
	srv, err := apitest.NewServer(served())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.Close()) }()
	c, err := newController(srv.Config())
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		defer stop()
		ended <- c.run(ctx)
	}()
	err = c.play(ctx, out)
	stop()
	return errors.Join(err, <-ended)
}

// play creates Networks, and waits each time until the controller has set the status.
func (c *controller) play(ctx context.Context, out io.Writer) error {
	for _, spec := range []NetworkSpec{
		{CIDR: "10.1.0.0/16", Gateway: "10.1.0.1"},
		{CIDR: "10.1.0.0/16", Gateway: "10.2.0.1"},
	} {
		network := &Network{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "lab-"}, Spec: spec}
		created, err := c.writer.Create(ctx, network, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		checked, err := c.waitForStatus(ctx, created.Name)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, strings.TrimSpace(fmt.Sprintf("%s by %s: %s %s", spec.CIDR, spec.Gateway, checked.Phase, checked.Message)))
	}
	return nil
}

// waitForStatus returns the status of a Network when it has one.
func (c *controller) waitForStatus(ctx context.Context, name string) (NetworkStatus, error) {
	events := c.informer.Events(ctx)
	for event := range events.All() {
		if n := event.New; n != nil && n.Name == name && n.Status.Phase != "" {
			return n.Status, nil
		}
	}
	return NetworkStatus{}, fmt.Errorf("wait for the status of %s: %w", name, events.Err())
}
