package ctrlruntime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deferredInformer is the informer of a kind that the server did not have when it was asked
// for. It keeps handlers and index functions, and has the real informer get them when there
// is one; it lives as long as the cache. Until then it counts as synced: there are no
// objects, and the manager waits for all of its informers.
type deferredInformer struct {
	example client.Object
	refuse  func(handler any) error // returns an error for a handler that the real informer refuses

	cache atomic.Pointer[cache.Cache] // with the kind, nil: none yet; set with mu held

	mu       sync.Mutex
	real     cache.Informer // guarded by mu; nil: there is none yet
	removed  bool           // guarded by mu; there will be none
	indexers []toolscache.Indexers
	fields   []indexedField          // guarded by mu, as indexers
	handlers []*deferredRegistration // guarded by mu
}

type indexedField struct {
	name string
	keys client.IndexerFunc
}

// deferredRegistration is the registration of a handler.
type deferredRegistration struct {
	handler toolscache.ResourceEventHandler
	options toolscache.HandlerOptions
	of      *deferredInformer
	to      cache.Informer                              // guarded by mu of the informer, as is all below; that has the handler
	real    toolscache.ResourceEventHandlerRegistration // nil: there is none yet
}

// isAttached reports whether a cache has the kind. It takes no lock: while attach does, which
// asks the cache of the manager for an informer, that one may be asking here.
func (d *deferredInformer) isAttached() bool { return d.cache.Load() != nil }

// attached returns the informer of a cache with the kind, nil if there is none yet.
func (d *deferredInformer) attached() cache.Informer {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.real
}

// remove makes attach do nothing from now on. It waits for one that is in progress.
func (d *deferredInformer) remove() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.removed = true
}

// attach moves handlers and indexes to the informer of a cache with the kind, unless the informer
// was removed. If it fails, it can be called again, and moves the rest.
func (d *deferredInformer) attach(ctx context.Context, to cache.Cache) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.removed {
		return nil
	}
	for len(d.fields) > 0 {
		if err := to.IndexField(ctx, d.example, d.fields[0].name, d.fields[0].keys); err != nil {
			return err
		}
		d.fields = d.fields[1:]
	}
	real, err := to.GetInformer(ctx, d.example, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	for len(d.indexers) > 0 {
		if err := real.AddIndexers(d.indexers[0]); err != nil {
			return err
		}
		d.indexers = d.indexers[1:]
	}
	for _, h := range d.handlers {
		if h.real != nil {
			continue
		}
		registration, err := real.AddEventHandlerWithOptions(h.handler, h.options)
		if err != nil {
			return err
		}
		h.to, h.real = real, registration
	}
	d.real = real
	d.cache.Store(&to)
	return nil
}

// indexField adds an index for a field, now or when there is an informer.
func (d *deferredInformer) indexField(ctx context.Context, field string, keys client.IndexerFunc) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if of := d.cache.Load(); of != nil {
		return (*of).IndexField(ctx, d.example, field, keys)
	}
	if d.hasIndex("field:" + field) {
		return fmt.Errorf("index field: there is an index of the field %q already", field)
	}
	d.fields = append(d.fields, indexedField{field, keys})
	return nil
}

// AddEventHandler implements cache.Informer.
func (d *deferredInformer) AddEventHandler(handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return d.AddEventHandlerWithOptions(handler, toolscache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod implements cache.Informer.
func (d *deferredInformer) AddEventHandlerWithResyncPeriod(handler toolscache.ResourceEventHandler, period time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return d.AddEventHandlerWithOptions(handler, toolscache.HandlerOptions{ResyncPeriod: &period})
}

// AddEventHandlerWithOptions implements cache.Informer.
func (d *deferredInformer) AddEventHandlerWithOptions(handler toolscache.ResourceEventHandler, options toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.real != nil {
		return d.real.AddEventHandlerWithOptions(handler, options)
	}
	if handler == nil {
		return nil, errors.New("add an event handler: handler is nil")
	}
	if err := d.refuse(handler); err != nil {
		return nil, fmt.Errorf("add an event handler: %w", err)
	}
	r := &deferredRegistration{handler: handler, options: options, of: d}
	d.handlers = append(d.handlers, r)
	return r, nil
}

// RemoveEventHandler implements cache.Informer.
func (d *deferredInformer) RemoveEventHandler(handle toolscache.ResourceEventHandlerRegistration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, ok := handle.(*deferredRegistration)
	if !ok {
		if d.real == nil {
			return errors.New("the registration is of another informer")
		}
		return d.real.RemoveEventHandler(handle)
	}
	d.handlers = slices.DeleteFunc(d.handlers, func(h *deferredRegistration) bool { return h == r })
	if r.real == nil {
		return nil
	}
	return r.to.RemoveEventHandler(r.real)
}

// AddIndexers implements cache.Informer.
func (d *deferredInformer) AddIndexers(indexers toolscache.Indexers) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.real != nil {
		return d.real.AddIndexers(indexers)
	}
	for name, keys := range indexers {
		if keys == nil {
			return fmt.Errorf("add indexers: index %q has no function", name)
		}
		if d.hasIndex(name) {
			return fmt.Errorf("add indexers: there is an index %q already", name)
		}
	}
	d.indexers = append(d.indexers, maps.Clone(indexers)) // the map is the caller's
	return nil
}

// hasIndex reports whether the real informer will refuse another index of a name. The caller holds
// mu.
func (d *deferredInformer) hasIndex(name string) bool {
	field, ofField := strings.CutPrefix(name, "field:")
	return name == toolscache.NamespaceIndex ||
		ofField && slices.ContainsFunc(d.fields, func(f indexedField) bool { return f.name == field }) ||
		slices.ContainsFunc(d.indexers, func(earlier toolscache.Indexers) bool { return earlier[name] != nil })
}

// HasSynced implements cache.Informer.
func (d *deferredInformer) HasSynced() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.real == nil || d.real.HasSynced()
}

// HasSyncedChecker implements cache.Informer.
func (d *deferredInformer) HasSyncedChecker() toolscache.DoneChecker {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.real != nil {
		return d.real.HasSyncedChecker()
	}
	return synced{}
}

// IsStopped implements cache.Informer.
func (d *deferredInformer) IsStopped() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.real != nil && d.real.IsStopped()
}

// HasSynced implements cache.ResourceEventHandlerRegistration.
func (r *deferredRegistration) HasSynced() bool {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	return r.real == nil || r.real.HasSynced()
}

// HasSyncedChecker implements cache.ResourceEventHandlerRegistration.
func (r *deferredRegistration) HasSyncedChecker() toolscache.DoneChecker {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	if r.real != nil {
		return r.real.HasSyncedChecker()
	}
	return synced{}
}

// synced is the DoneChecker of what counts as synced.
type synced struct{}

// Name implements cache.DoneChecker.
func (synced) Name() string { return "kind that is not served yet" }

// Done implements cache.DoneChecker.
func (synced) Done() <-chan struct{} { return closed }

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()
