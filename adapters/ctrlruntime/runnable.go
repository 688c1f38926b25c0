package ctrlruntime

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// Runnable makes a manager run an informer:
//
//	err := mgr.Add(ctrlruntime.Runnable(pods))
//
// The manager starts it before controllers, whether it leads or not, and ends it
// after their workers have returned: what a reconciler reads is not empty because
// the informer has stopped. If the informer ends with an error, so does the manager.
//
// The manager does not wait for the informer to sync. Controllers that have a Source
// of it do, no longer than CacheSyncTimeout; who only reads from it calls
// WaitForSync.
//
// Start of the result calls Run of the informer, and returns an error if the informer is nil.
func Runnable[T index.Object](informer *typed.Informer[T]) manager.Runnable {
	return &runnable[T]{informer}
}

// runnable looks like a cluster to the manager, as that has its cache end last.
type runnable[T index.Object] struct{ informer *typed.Informer[T] }

func _[T index.Object]() { var _ manager.LeaderElectionRunnable = (*runnable[T])(nil) }

func (r *runnable[T]) Start(ctx context.Context) error {
	if r.informer == nil {
		return errors.New("run informer: informer is nil")
	}
	return r.informer.Run(ctx)
}

func (r *runnable[T]) NeedLeaderElection() bool { return false }

func (r *runnable[T]) GetCache() cache.Cache { return notACache{} }

// notACache is a cache that has always synced: otherwise, the manager would wait for it even
// when it is to stop. The manager asks for nothing else.
type notACache struct{}

func (notACache) WaitForCacheSync(context.Context) bool { return true }

var errNotACache = errors.New("a typed informer is not a cache of controller-runtime; read from the informer itself")

func (notACache) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errNotACache
}

func (notACache) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errNotACache
}

func (notACache) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return nil, errNotACache
}

func (notACache) GetInformerForKind(context.Context, schema.GroupVersionKind, ...cache.InformerGetOption) (cache.Informer, error) {
	return nil, errNotACache
}

func (notACache) RemoveInformer(context.Context, client.Object) error { return errNotACache }

func (notACache) IndexField(context.Context, client.Object, string, client.IndexerFunc) error {
	return errNotACache
}

func (notACache) Start(context.Context) error { return errNotACache }
