// Command controller is a whole controller: for each ConfigMap with a certain
// label it keeps as many Pods as the ConfigMap asks for, as a ReplicaSet does. It
// shows how informers, an index, a work queue with several workers, own writes
// and leader election go together, and how to stop without leaving anything half
// done.
//
//	go run ./examples/controller [flags]
//
//	-workers 4         how many ConfigMaps are processed at the same time
//	-kubeconfig FILE   work in the cluster of this file until Ctrl-C
//	-namespace NAME    where the lease is that instances compete for
//	-serve ADDRESS     serve /metrics, those of the queue for Prometheus, and /readyz
//
// Without -kubeconfig it brings an API server along, plays through what may
// happen to a ConfigMap and its Pods, and ends. With it, try
//
//	kubectl create configmap web --from-literal=replicas=3
//	kubectl label configmap web app.kubernetes.io/managed-by=kubetyped-example
//
// Begin to read at controller.go, which is the controller. It logs to stderr.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubetyped/informer/apitest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "controller:", err)
		os.Exit(1)
	}
}

// run runs a controller as the arguments say, until ctx ends, which is no error.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("controller", flag.ContinueOnError)
	flags.SetOutput(out)
	workers := flags.Int("workers", 4, "how `many` ConfigMaps are processed at the same time")
	kubeconfig := flags.String("kubeconfig", "", "work in the cluster of this `file` until Ctrl-C")
	namespace := flags.String("namespace", "default", "`name` of the namespace of the lease")
	address := flags.String("serve", "", "serve /metrics and /readyz over HTTP at this `address`, as localhost:8080")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config, closeServer, err := connect(*kubeconfig)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeServer()) }()
	c, err := newController(config)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	elector, err := newElector(config, *namespace, fmt.Sprintf("%s-%d", host, os.Getpid()))
	if err != nil {
		return err
	}
	var listener net.Listener
	if *address != "" {
		if listener, err = net.Listen("tcp", *address); err != nil {
			return err
		}
		fmt.Fprintf(out, "serves http://%s/metrics and /readyz\n", listener.Addr())
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	var group errgroup.Group
	group.Go(func() error {
		defer stop()
		return c.run(working, *workers, elector)
	})
	if listener != nil {
		group.Go(func() error {
			defer stop()
			return c.serve(working, listener)
		})
	}
	if *kubeconfig == "" {
		group.Go(func() error {
			defer stop()
			return play(working, c, out)
		})
	}
	err = group.Wait()
	report(out, c)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil // it was asked to stop
	}
	return err
}

// connect returns how to connect to the cluster of a kubeconfig, or to a server
// that it starts if there is none.
func connect(kubeconfig string) (config *rest.Config, closeServer func() error, err error) {
	if kubeconfig != "" {
		config, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
		return config, func() error { return nil }, err
	}
	srv, err := apitest.NewServer()
	if err != nil {
		return nil, nil, err
	}
	return srv.Config(), srv.Close, nil
}
