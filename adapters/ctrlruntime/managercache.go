package ctrlruntime

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// managerCache is the cache that NewCache makes.
type managerCache struct {
	cache.Cache // has all kinds that are served when they are asked for
	*settings

	newCache func(with map[client.Object]cache.ByObject) (cache.Cache, error)
	later    map[schema.GroupVersionKind]map[client.Object]cache.ByObject // options of kinds that are not served; never changed
	discover *discoverer
	limits   limits                                     // in which kinds are listed; never changed
	host     string                                     // of the server
	wake     chan struct{}                              // has the server asked which kinds it serves
	byName   map[schema.GroupVersionKind]referenceCache // of WithReferences; never changed

	mu            sync.Mutex
	deferred      map[kindOf]*deferredInformer            // guarded by mu
	caches        map[schema.GroupVersionKind]*laterCache // guarded by mu; of kinds in later that are served
	informers     map[kindOf][]*cachedInformer            // guarded by mu
	packedReaders map[kindOf][]*packedReader              // guarded by mu
	gates         map[kindOf][]*gate                      // guarded by mu; of all informers
	suspects      map[schema.GroupVersionKind]time.Time   // guarded by mu; kinds that a request has not found, and when discovery did not, either
	gone          map[schema.GroupVersionKind]error       // guarded by mu; kinds that were served, or may not be listed, and the error of reads
	run           func(of cache.Cache)                    // guarded by mu; nil: not started
}

// laterCache is the cache of a kind that was not served when the others were made.
type laterCache struct {
	cache.Cache
	running bool // guarded by mu of the managerCache
}

var _ cache.Informers = (*managerCache)(nil)

// NeedLeaderElection makes the manager run the cache before its election.
func (*managerCache) NeedLeaderElection() bool { return false }

// Get implements client.Reader.
func (c *managerCache) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if r := c.byReference(obj); r != nil {
		return r.get(ctx, key, obj, opts)
	}
	of, err := c.reader(obj)
	if err != nil {
		return err
	}
	if packed := c.packedReader(obj); packed != nil {
		return packed.get(key, obj, opts)
	}
	return of.Get(ctx, key, obj, opts...)
}

// List implements client.Reader.
func (c *managerCache) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if r := c.byReference(list); r != nil {
		return r.list(ctx, list, opts)
	}
	if err := c.checkSelector(list, opts); err != nil {
		return err
	}
	of, err := c.reader(list)
	if err != nil {
		return err
	}
	if packed := c.packedReader(list); packed != nil {
		if done, err := packed.list(list, opts); done {
			return err
		}
	}
	return of.List(ctx, list, opts...)
}

// reader returns the cache that has the objects of a kind, or a list of such; an error if
// the server does not have the kind.
func (c *managerCache) reader(of runtime.Object) (cache.Cache, error) {
	kind, err := c.kindOf(of)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.gone[kind.kind]; err != nil {
		return nil, err
	}
	if d := c.deferred[kind]; d != nil && !d.isAttached() {
		return nil, noMatch(kind.kind)
	}
	return c.cacheOf(kind.kind)
}

// cacheOf returns the cache of a kind, an error if that is not served yet. The caller holds
// mu.
func (c *managerCache) cacheOf(kind schema.GroupVersionKind) (cache.Cache, error) {
	if c.later[kind] == nil {
		return c.Cache, nil
	}
	if of := c.caches[kind]; of != nil {
		return of, nil
	}
	return nil, noMatch(kind)
}

func noMatch(kind schema.GroupVersionKind) error {
	return &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
}

// kindOf returns the kind and Go type of an object, or of the objects of a list.
func (c *managerCache) kindOf(of runtime.Object) (kindOf, error) {
	kind, err := apiutil.GVKForObject(of, c.scheme)
	if err != nil {
		return kindOf{}, err
	}
	return c.formOf(of, kind), nil
}

// formOf returns under which of the three forms of a kind an informer is kept.
func (*settings) formOf(of runtime.Object, kind schema.GroupVersionKind) kindOf {
	if meta.IsListType(of) {
		kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	}
	switch of.(type) {
	case runtime.Unstructured:
		return kindOf{unstructuredType, kind}
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return kindOf{metadataType, kind}
	}
	return kindOf{kind: kind}
}

// GetInformer implements cache.Informers.
func (c *managerCache) GetInformer(ctx context.Context, obj client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	kind, err := c.kindOf(obj)
	if err != nil {
		return nil, err
	}
	return c.informer(ctx, kind, obj, opts)
}

// GetInformerForKind implements cache.Informers.
func (c *managerCache) GetInformerForKind(ctx context.Context, kind schema.GroupVersionKind, opts ...cache.InformerGetOption) (cache.Informer, error) {
	obj, err := c.scheme.New(kind)
	if err != nil {
		return nil, err
	}
	example, ok := obj.(client.Object)
	if !ok {
		return c.Cache.GetInformerForKind(ctx, kind, opts...)
	}
	return c.informer(ctx, c.formOf(obj, kind), example, opts)
}

// informer returns the informer of a kind, a deferred one if the server does not have it.
func (c *managerCache) informer(ctx context.Context, kind kindOf, example client.Object, opts []cache.InformerGetOption) (cache.Informer, error) {
	if r := c.byName[kind.kind]; r != nil {
		return r.informerOf(example)
	}
	c.mu.Lock()
	d := c.deferred[kind]
	of, err := c.cacheOf(kind.kind)
	c.mu.Unlock()
	if d != nil {
		if of := d.cache.Load(); of != nil { // it waits for its first list, unless opts say otherwise
			if _, err := (*of).GetInformer(ctx, example, opts...); err != nil {
				return nil, err
			}
		}
		return d, nil
	}
	var informer cache.Informer
	if err == nil {
		informer, err = of.GetInformer(ctx, example, opts...)
	}
	if !isNotServed(err) {
		return informer, err
	}
	return c.deferInformer(kind, example), nil
}

// deferInformer returns the deferred informer of a kind.
func (c *managerCache) deferInformer(kind kindOf, example client.Object) *deferredInformer {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.deferred[kind]
	if d == nil {
		d = &deferredInformer{example: example.DeepCopyObject().(client.Object), refuse: c.refusing(kind.kind)}
		c.deferred[kind] = d
		log.Info("The server does not have a kind yet; its informer begins when it does", "kind", kind.kind.String())
		c.lookAgain()
	}
	return d
}

// RemoveInformer implements cache.Informers.
func (c *managerCache) RemoveInformer(ctx context.Context, obj client.Object) error {
	if r := c.byReference(obj); r != nil {
		r.forget()
		return nil
	}
	kind, err := c.kindOf(obj)
	if err != nil {
		return err
	}
	c.mu.Lock()
	d := c.deferred[kind]
	delete(c.deferred, kind)
	c.mu.Unlock()
	if d != nil {
		d.remove()
	}
	c.mu.Lock()
	delete(c.gates, kind)
	delete(c.informers, kind)
	delete(c.packedReaders, kind)
	of, err := c.cacheOf(kind.kind)
	c.mu.Unlock()
	if err == nil {
		err = of.RemoveInformer(ctx, obj)
	}
	if isNotServed(err) {
		return nil // there is none
	}
	return err
}

// IndexField implements client.FieldIndexer.
func (c *managerCache) IndexField(ctx context.Context, obj client.Object, field string, keys client.IndexerFunc) error {
	if c.byReference(obj) != nil {
		kind, err := c.kindOf(obj)
		return errors.Join(err, errIndexed(kind.kind))
	}
	if err := c.checkField(obj, field); err != nil {
		return err
	}
	informer, err := c.GetInformer(ctx, obj, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	if d, ok := informer.(*deferredInformer); ok {
		return d.indexField(ctx, field, keys)
	}
	kind, err := c.kindOf(obj)
	if err != nil {
		return err
	}
	c.mu.Lock()
	of, err := c.cacheOf(kind.kind)
	c.mu.Unlock()
	if err != nil {
		return err
	}
	return of.IndexField(ctx, obj, field, keys)
}

// errStarted is what controller-runtime's cache returns.
var errStarted = errors.New("informer already started")

// Start implements cache.Informers.
func (c *managerCache) Start(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	c.mu.Lock()
	if c.run != nil {
		c.mu.Unlock()
		return errStarted
	}
	c.run = func(of cache.Cache) {
		running.Go(func() {
			if err := of.Start(ctx); err != nil {
				log.Error(err, "The cache of a kind that is served since later has ended")
			}
		})
	}
	for _, of := range c.caches {
		c.runLater(of)
	}
	c.mu.Unlock()
	for _, r := range c.byName {
		running.Go(r.start(ctx))
	}
	running.Go(func() { c.follow(ctx) })
	return c.Cache.Start(ctx)
}

// runLater runs a cache. The caller holds mu.
func (c *managerCache) runLater(of *laterCache) {
	if c.run != nil && !of.running {
		of.running = true
		c.run(of.Cache)
	}
}

var (
	unstructuredType = reflect.TypeFor[*unstructured.Unstructured]()
	metadataType     = reflect.TypeFor[*metav1.PartialObjectMetadata]()
)
