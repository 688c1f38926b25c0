// Package resourcefactory shares informers by resource, as client-go's dynamic
// and metadata factories do.
package resourcefactory

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// Factory makes one informer for each resource. Its methods are safe for
// concurrent use.
type Factory struct {
	newInformer func(schema.GroupVersionResource) informers.GenericInformer

	mu           sync.Mutex
	informers    map[schema.GroupVersionResource]informers.GenericInformer // guarded by mu
	started      map[schema.GroupVersionResource]cache.SharedIndexInformer // guarded by mu
	shuttingDown bool                                                      // guarded by mu

	running sync.WaitGroup
}

// New returns a factory that makes informers with a function.
func New(newInformer func(schema.GroupVersionResource) informers.GenericInformer) *Factory {
	return &Factory{
		newInformer: newInformer,
		informers:   map[schema.GroupVersionResource]informers.GenericInformer{},
		started:     map[schema.GroupVersionResource]cache.SharedIndexInformer{},
	}
}

// ForResource returns the informer of a resource.
func (f *Factory) ForResource(resource schema.GroupVersionResource) informers.GenericInformer {
	f.mu.Lock()
	defer f.mu.Unlock()
	informer, ok := f.informers[resource]
	if !ok {
		informer = f.newInformer(resource)
		f.informers[resource] = informer
	}
	return informer
}

// Start does as StartWithContext, with a channel that is closed to stop.
func (f *Factory) Start(stopCh <-chan struct{}) { f.StartWithContext(wait.ContextForChannel(stopCh)) }

// StartWithContext starts the informers that were not started before, and
// returns. They run until ctx ends. After Shutdown it does nothing.
func (f *Factory) StartWithContext(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shuttingDown {
		return
	}
	for resource, generic := range f.informers {
		if _, ok := f.started[resource]; ok {
			continue
		}
		informer := generic.Informer()
		f.started[resource] = informer
		f.running.Go(func() { informer.RunWithContext(ctx) })
	}
}

// WaitForCacheSync waits until the informers that were started have synced, or
// stopCh is closed, and returns which have.
func (f *Factory) WaitForCacheSync(stopCh <-chan struct{}) map[schema.GroupVersionResource]bool {
	f.mu.Lock()
	synced := make(map[schema.GroupVersionResource]bool, len(f.started))
	checkers := make(map[schema.GroupVersionResource]cache.DoneChecker, len(f.started))
	for resource, informer := range f.started {
		checkers[resource] = informer.HasSyncedChecker()
	}
	f.mu.Unlock()
	for resource, checker := range checkers {
		select {
		case <-checker.Done():
		case <-stopCh:
		}
		synced[resource] = cache.IsDone(checker)
	}
	return synced
}

// Shutdown has no more informers started, and returns when those have stopped
// that were.
func (f *Factory) Shutdown() {
	f.mu.Lock()
	f.shuttingDown = true
	f.mu.Unlock()
	f.running.Wait()
}
