// Command discovery watches every resource that a cluster has, custom ones included, and
// prints how many objects there are of each. It asks for metadata only, so it needs no types,
// and little memory.
//
// Without a kubeconfig, the cluster is an API server in memory.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

func main() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	kubeconfig := flag.String("kubeconfig", "", "watch the cluster of this `file`")
	timeout := flag.Duration("timeout", 10*time.Second, "how long to wait for the informers to sync")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *kubeconfig, *timeout, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "discovery:", err)
		stop()
		os.Exit(1)
	}
}

// run watches the cluster of a kubeconfig, or without one a server in memory.
func run(ctx context.Context, kubeconfig string, timeout time.Duration, out io.Writer) (err error) {
	if kubeconfig == "" {
		srv, err := newServer()
		if err != nil {
			return err
		}
		return errors.Join(watch(ctx, srv.Config(), timeout, out), srv.Close())
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	return watch(ctx, config, timeout, out)
}

// watch runs an informer for every resource, and writes a table of them.
func watch(ctx context.Context, config *rest.Config, timeout time.Duration, out io.Writer) error {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 100, 200 // two requests for each of many resources
	resources, err := discover(config)
	if err != nil {
		return err
	}
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}

	// One factory for the cluster, and one informer for each resource. The option
	// fits all types of objects that have managed fields.
	factory := kube.NewFactory(config, kube.WithoutFields("metadata.managedFields"))
	defer factory.Shutdown()
	informers := map[schema.GroupVersionResource]*typed.SharedInformer[*metav1.PartialObjectMetadata]{}
	for _, resource := range resources {
		informer, err := typed.Share(factory.Factory, resource, func() source.Source[*metav1.PartialObjectMetadata] {
			return objectsOf(client, resource)
		}, typed.WithName(resource.GroupResource().String()))
		if err != nil {
			return err
		}
		informers[resource] = informer
	}

	// Some may be forbidden. The others can be used.
	syncing, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := factory.WaitForSync(syncing); err != nil {
		fmt.Fprintln(out, err)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RESOURCE\tVERSION\tOBJECTS\tAT")
	for _, resource := range resources {
		informer := informers[resource]
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\n", resource.GroupResource(), resource.Version, informer.Len(), informer.ResourceVersion())
	}
	return errors.Join(table.Flush(), ctx.Err())
}

// discover returns what can be listed and watched, each resource in the version
// that the server prefers.
func discover(config *rest.Config) ([]schema.GroupVersionResource, error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	lists, err := client.ServerPreferredResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) { // one group may be down
		return nil, fmt.Errorf("discover resources: %w", err)
	}
	lists = discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "watch"}}, lists)
	found, err := discovery.GroupVersionResources(lists)
	if err != nil {
		return nil, err
	}
	byName := func(a, b schema.GroupVersionResource) int { return strings.Compare(a.String(), b.String()) }
	return slices.SortedFunc(maps.Keys(found), byName), nil
}

// objectsOf returns a source of the metadata of a resource's objects.
func objectsOf(client metadata.Interface, resource schema.GroupVersionResource) source.Source[*metav1.PartialObjectMetadata] {
	objects := client.Resource(resource)
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return objects.List(ctx, opts)
		},
		WatchFuncWithContext: objects.Watch,
	}
	return kube.FromListerWatcher[*metav1.PartialObjectMetadata](cache.ToListWatcherWithWatchListSemantics(lw, client))
}
