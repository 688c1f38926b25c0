package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/index"
)

// runManager runs the controller under controller-runtime.
func (p *program) runManager(ctx context.Context, config *rest.Config) error {
	options := ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}}
	switch *way {
	case uncached:
		options.Client.Cache = &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}
	case withOptions:
		options.NewCache = ctrlruntime.NewCache(ctrlruntime.WithReferences[*corev1.Secret]())
	}
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	err = mgr.GetFieldIndexer().IndexField(ctx, &networkingv1.Ingress{}, bySecret, func(obj client.Object) []string {
		return namesOf(obj.(*networkingv1.Ingress))
	})
	if err != nil {
		return err
	}
	c := ctrl.NewControllerManagedBy(mgr).For(&networkingv1.Ingress{}).WithOptions(controller.Options{MaxConcurrentReconciles: *workers})
	if *way != uncached {
		c = c.Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, secret client.Object) (requests []reconcile.Request) {
			var of networkingv1.IngressList
			if err := mgr.GetClient().List(ctx, &of, client.MatchingFields{bySecret: index.KeyOf(secret).String()}); err != nil {
				return nil // the cache has the index
			}
			for _, ingress := range of.Items {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&ingress)})
			}
			return requests
		}))
	}
	if err := c.Complete(p.reconcilerOf(mgr.GetClient())); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// reconcilerOf returns the reconciler, which reads by a client.
func (p *program) reconcilerOf(from client.Client) reconcile.Reconciler {
	read := func(ctx context.Context, key index.Key) (*corev1.Secret, error) {
		secret := &corev1.Secret{}
		err := from.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: key.Name}, secret)
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return secret, err
	}
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (result reconcile.Result, err error) {
		var ingress networkingv1.Ingress
		if err := from.Get(ctx, request.NamespacedName, &ingress); err != nil {
			return result, client.IgnoreNotFound(err)
		}
		if *way == uncached {
			result.RequeueAfter = *period
		}
		return result, p.reconcile(ctx, &ingress, read)
	})
}
