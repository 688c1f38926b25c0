// Command quickstart shows the project at work on a real API server, on a
// machine that has no cluster: it starts one, fills it with Pods, and runs
// another program against it while some of the Pods change.
//
//	quickstart [flags] [-- command [argument…]]
//
// The default command is examples/quickstart of this repository, with its flag
// -kubeconfig. Any other command finds the cluster through the environment
// variable KUBECONFIG.
//
// It ends when the command ends, or on an interrupt, and takes the cluster with
// it in either case. It fails if the command fails.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/e2e/cluster"
	"github.com/kubetyped/informer/e2e/workload"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// run starts the cluster, shows the command at work on it, and stops it. When
// ctx ends in the middle of that, run returns no error if all was put away.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	load := load{crew: workload.Crew{Out: out}}
	flags.IntVar(&load.pods, "pods", 5000, "`number` of Pods")
	flags.IntVar(&load.namespaces, "namespaces", 10, "`number` of namespaces that the Pods are in")
	flags.IntVar(&load.nodes, "nodes", 50, "`number` of Nodes that the Pods are on")
	flags.IntVar(&load.crew.Workers, "workers", 16, "`number` of requests at a time that create objects")
	rate := flags.Int("churn", 20, "`number` of changes of Pods in a second while the command runs")
	dir := flags.String("dir", "..", "`folder` that the command runs in; for the default command, the root of the repository")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := load.validate(); err != nil {
		return err
	}
	if *rate < 1 {
		return fmt.Errorf("-churn must be positive, not %d", *rate)
	}

	c, err := cluster.Start(ctx, cluster.WithProgress(out))
	if err != nil {
		return err
	}
	defer func() {
		fmt.Fprintln(out, "stopping the cluster…")
		err = errors.Join(err, c.Stop())
	}()
	err = withKubeconfig(c, func(kubeconfig string) error {
		child := command{args: flags.Args(), dir: *dir, kubeconfig: kubeconfig, out: out}
		return show(ctx, c, load, child, time.Second/time.Duration(*rate))
	})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		fmt.Fprintln(out, "interrupted")
		return nil
	}
	return err
}

// show fills the cluster and runs the command until it ends, with a change of a
// Pod at every interval.
func show(ctx context.Context, c *cluster.Cluster, load load, child command, interval time.Duration) error {
	config := c.Config()
	config.ContentType = runtime.ContentTypeProtobuf // less work for either side than JSON
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	if err := load.create(ctx, client); err != nil {
		return err
	}
	changes := &churn{client: client, objects: load.objects(), pods: load.pods, interval: interval}
	return runBeside(ctx, child.run, changes.run)
}

// withKubeconfig calls use with the path of a kubeconfig file for c, which is
// removed afterwards.
func withKubeconfig(c *cluster.Cluster, use func(path string) error) (err error) {
	temp, err := os.MkdirTemp("", "quickstart-")
	if err != nil {
		return fmt.Errorf("make a folder for the kubeconfig: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	path := filepath.Join(temp, "kubeconfig")
	if err := c.WriteKubeconfig(path); err != nil {
		return err
	}
	return use(path)
}

// runBeside runs both functions at the same time. It cancels their context when main returns, or
// when the other one fails. It returns when both have, with the first error.
func runBeside(ctx context.Context, main, beside func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	ctx, cancel := context.WithCancel(ctx)
	group.Go(func() error {
		defer cancel()
		return main(ctx)
	})
	group.Go(func() error { return beside(ctx) })
	return group.Wait()
}
