// Command manager writes on each Node how many Pods it has: by after.go, with this project
// under controller-runtime, or by before.go, without.
//
//	go run ./examples/manager [-before] [-kubeconfig FILE] [-probes ADDRESS] [-metrics ADDRESS]
//
// A test runs both.
package main

import (
	"context"
	"flag"
	"os"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func main() {
	withoutIt := flag.Bool("before", false, "run the program without this project")
	probes := flag.String("probes", ":8081", "the address of the readiness check")
	metrics := flag.String("metrics", ":8080", "the address of the metrics and of the debug page")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	run := after
	if *withoutIt {
		run = before
	}
	options := ctrl.Options{HealthProbeBindAddress: *probes, Metrics: metricsserver.Options{BindAddress: *metrics}}
	if err := run(ctrl.SetupSignalHandler(), ctrl.GetConfigOrDie(), options); err != nil {
		ctrl.Log.Error(err, "The manager has ended")
		os.Exit(1)
	}
}

// program is a way to run the manager until ctx ends.
type program func(ctx context.Context, config *rest.Config, options ctrl.Options) error

const annotation = "example.com/pods"

// nodeOf returns the Node that is to be reconciled for a Pod.
func nodeOf(_ context.Context, pod *corev1.Pod) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: pod.Spec.NodeName}}}
}

// annotate writes on a Node how many Pods it has.
func annotate(ctx context.Context, c client.Client, node *corev1.Node, pods int) error {
	if node.Annotations[annotation] == strconv.Itoa(pods) {
		return nil
	}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"`+annotation+`":"`+strconv.Itoa(pods)+`"}}}`))
	return c.Patch(ctx, node, patch)
}
