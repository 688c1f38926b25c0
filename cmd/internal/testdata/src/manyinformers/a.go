package manyinformers

import (
	"context"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

type reconciler struct {
	factories map[string]informers.SharedInformerFactory
}

func (r *reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	factory := informers.NewSharedInformerFactory(nil, 0) // want `for each reconcile`
	_ = factory
	return reconcile.Result{}, nil
}

func (r *reconciler) start(stop chan struct{}, namespaces []string) (all []cache.SharedIndexInformer) {
	once := informers.NewSharedInformerFactory(nil, 0)
	once.Start(stop)
	for _, ns := range namespaces {
		lost := informers.NewSharedInformerFactory(nil, 0) // want `for each turn of the loop`
		lost.Start(stop)
		kept := informers.NewSharedInformerFactory(nil, 0)
		r.factories[ns] = kept
		informer := cache.NewSharedIndexInformer(nil, nil, 0, nil)
		all = append(all, informer)
		waited := informers.NewSharedInformerFactory(nil, 0) // want `for each turn of the loop`
		pods := waited.Pods()
		if !cache.WaitForCacheSync(stop, pods.Informer().HasSynced) {
			return nil
		}
		passed := informers.NewSharedInformerFactory(nil, 0)
		nodes := passed.Nodes()
		register(ns, nodes.Lister())
		handled := informers.NewSharedInformerFactory(nil, 0)
		handled.Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{})
		handled.Start(stop)
	}
	return all
}

func register(namespace string, lister any) {}
