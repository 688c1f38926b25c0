package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/kube"
)

// after is the manager with this project: objects are deduplicated, of Pods only the Node is
// kept, their index is typed and read without copies, own writes are read at once, and a debug
// page and a readiness check name problems.
func after(ctx context.Context, config *rest.Config, options ctrl.Options) error {
	writes := kube.NewWrites()
	options.NewCache = ctrlruntime.NewCache(
		ctrlruntime.WithOwnWrites(writes),
		ctrlruntime.WithDeduplication(),
		ctrlruntime.ForAllKinds(kube.WithoutFields("metadata.managedFields")),
		ctrlruntime.ForKind(&corev1.Pod{}, kube.WithFields("spec.nodeName")),
		ctrlruntime.Typed[*corev1.Pod]())
	mgr, err := ctrl.NewManager(writes.Config(config), options)
	if err != nil {
		return err
	}
	if _, err := ctrlruntime.Inspect(mgr); err != nil {
		return err
	}
	pods, err := ctrlruntime.Informer[*corev1.Pod](mgr.GetCache())
	if err != nil {
		return err
	}
	defer pods.Release()
	byNode := index.Single("node", func(p *corev1.Pod) (string, bool) { return p.Spec.NodeName, p.Spec.NodeName != "" })
	if err := pods.AddIndexes(byNode); err != nil {
		return err
	}
	var workers controller.Options
	if err := ctrlruntime.ConfigureController(&workers); err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(mgr).For(&corev1.Node{}).WithOptions(workers).
		WatchesRawSource(source.Kind(mgr.GetCache(), &corev1.Pod{}, handler.TypedEnqueueRequestsFromMapFunc(nodeOf))).
		Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			var node corev1.Node
			if err := mgr.GetClient().Get(ctx, req.NamespacedName, &node); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			return reconcile.Result{}, annotate(ctx, mgr.GetClient(), &node, byNode.Len(node.Name))
		}))
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}
