package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// before is the manager without this project.
func before(ctx context.Context, config *rest.Config, options ctrl.Options) error {
	options.Cache.DefaultTransform = cache.TransformStripManagedFields()
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	err = mgr.GetFieldIndexer().IndexField(ctx, &corev1.Pod{}, "spec.nodeName", func(obj client.Object) []string {
		return []string{obj.(*corev1.Pod).Spec.NodeName}
	})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(mgr).For(&corev1.Node{}).
		WatchesRawSource(source.Kind(mgr.GetCache(), &corev1.Pod{}, handler.TypedEnqueueRequestsFromMapFunc(nodeOf))).
		Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			var node corev1.Node
			if err := mgr.GetClient().Get(ctx, req.NamespacedName, &node); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			var pods corev1.PodList
			if err := mgr.GetClient().List(ctx, &pods, client.MatchingFields{"spec.nodeName": node.Name}); err != nil {
				return reconcile.Result{}, err
			}
			return reconcile.Result{}, annotate(ctx, mgr.GetClient(), &node, len(pods.Items))
		}))
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}
