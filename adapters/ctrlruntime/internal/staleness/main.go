// Command staleness is a controller that creates Pods for each of some parents one by one,
// with one of five ways to read them, and prints what that has come to. The module e2e runs it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/typed/kube"
)

// The ways to read.
const (
	plain    = "plain"    // the cache
	blocking = "blocking" // the client that waits for the cache
	skipping = "skipping" // the cache, unless it lacks the last write
	live     = "live"     // the API server
	ours     = "ours"     // the cache with own writes
)

var (
	way       = flag.String("way", ours, "how to read: plain, blocking, skipping, live or ours")
	namespace = flag.String("namespace", "default", "where the parents are, which are ConfigMaps with the label parent=true")
	parents   = flag.Int("parents", 1, "number of parents")
	children  = flag.Int("children", 10, "number of Pods for each")
	generate  = flag.Bool("generate", false, "have the API server generate names")
)

func main() {
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	if err := run(ctrl.SetupSignalHandler(), ctrl.GetConfigOrDie()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs the controller until all parents have their Pods.
func run(ctx context.Context, config *rest.Config) error {
	options := ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}}
	options.Cache.DefaultNamespaces = map[string]cache.Config{*namespace: {}}
	switch *way {
	case plain, skipping, live:
	case blocking:
		options.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}
	case ours:
		writes := kube.NewWrites()
		config = writes.Config(config)
		options.NewCache = ctrlruntime.NewCache(ctrlruntime.WithOwnWrites(writes))
	default:
		return fmt.Errorf("-way is %q: name plain, blocking, skipping, live or ours", *way)
	}
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	err = mgr.GetFieldIndexer().IndexField(ctx, &corev1.Pod{}, label, func(obj client.Object) []string { return []string{obj.GetLabels()[label]} })
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := newReconciler(mgr, cancel)
	pods := source.Kind(mgr.GetCache(), &corev1.Pod{}, handler.TypedEnqueueRequestsFromMapFunc(r.childSeen))
	err = ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).WatchesRawSource(pods).
		WithOptions(controller.Options{MaxConcurrentReconciles: 16}).Complete(r)
	if err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r.result())
}
