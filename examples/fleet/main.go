// Command fleet is a dashboard of the Pods of several clusters, of which one informer has
// them all.
//
//	go run ./examples/fleet -kubeconfig ~/.kube/config -contexts east,north,west
//
// Without a kubeconfig, the clusters are three API servers in memory, of which one goes down
// and comes back.
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
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

func main() {
	klog.LogToStderr(false) // what fails is in the table
	klog.SetOutput(io.Discard)
	kubeconfig := flag.String("kubeconfig", "", "use clusters of this `file` instead of three in memory")
	contexts := flag.String("contexts", "", "the contexts of the kubeconfig, with commas in between; all by default")
	every := flag.Duration("every", 2*time.Second, "how often to look")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *kubeconfig == "" {
		err = demonstrate(ctx, os.Stdout)
	} else {
		err = follow(ctx, *kubeconfig, *contexts, *every, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		stop()
		os.Exit(1)
	}
}

// follow writes the table of real clusters, again and again.
func follow(ctx context.Context, kubeconfig, contexts string, every time.Duration, out io.Writer) error {
	var names []string
	if contexts != "" {
		names = strings.Split(contexts, ",")
	}
	found, err := fleet.LoadKubeconfig(kubeconfig, names...)
	if err != nil {
		return err
	}
	clusters, err := fleet.NewClusters(found...)
	if err != nil {
		return err
	}
	return watch(ctx, clusters, func(ctx context.Context, d *dashboard) error {
		if err := d.informer.WaitForSync(ctx); err != nil {
			return err
		}
		for {
			d.write(out)
			select {
			case <-time.After(every):
			case <-ctx.Done():
				return nil
			}
		}
	})
}

// dashboard shows the Pods of all clusters.
type dashboard struct {
	pods      *fleet.Source[*corev1.Pod]
	informer  *typed.Informer[fleet.InCluster[*corev1.Pod]]
	byCluster *index.Index[string, fleet.InCluster[*corev1.Pod]]
}

// watch runs an informer of the Pods of clusters while a function runs.
func watch(ctx context.Context, clusters *fleet.Clusters, do func(ctx context.Context, d *dashboard) error) error {
	// One list and one watch for each cluster, and one store for all.
	pods := fleet.NewSource(clusters, func(c fleet.Cluster) source.Source[*corev1.Pod] {
		return kube.FromREST[*corev1.Pod](c.Config)
	})
	d := &dashboard{pods: pods, informer: typed.NewInformer(pods), byCluster: fleet.ByCluster[*corev1.Pod]()}
	if err := d.informer.AddIndexes(d.byCluster); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- d.informer.Run(ctx) }()
	err := do(ctx, d)
	stop()
	return errors.Join(err, <-ended)
}

// write writes what is known of each cluster.
func (d *dashboard) write(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CLUSTER\tPODS\tRUNNING\tSTATE")
	for _, s := range d.pods.Status() {
		all, running := 0, 0
		for pod := range d.byCluster.All(s.Cluster) {
			all++
			if pod.Object.Status.Phase == corev1.PodRunning {
				running++
			}
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%s\n", s.Cluster, all, running, state(s))
	}
	_ = table.Flush()
}

// state describes the state of a cluster.
func state(s fleet.ClusterStatus) string {
	if s.Stale() {
		return fmt.Sprintf("stale for %s", time.Since(s.Since).Truncate(time.Second))
	}
	return strings.ToLower(s.Phase.String())
}
