package ctrlruntime

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubetyped/informer/adapters"
)

const (
	// lookPeriod is how often the server is asked for kinds that it does not have.
	lookPeriod = 10 * time.Second
	// soonPeriod is how often it is for soonTime after CustomResourceDefinitions have
	// changed: servers know of them one after the other.
	soonPeriod = 250 * time.Millisecond
	soonTime   = 15 * time.Second
	// goneAfter is the time between the two looks that find a kind gone.
	goneAfter = 2 * time.Second
)

var log = ctrllog.Log.WithName("cache")

// isNotServed reports whether an error says that the server does not have a kind.
func isNotServed(err error) bool {
	failed := (*apiutil.ErrResourceDiscoveryFailed)(nil)
	if errors.As(err, &failed) {
		for _, one := range *failed {
			if !apierrors.IsNotFound(one) && !meta.IsNoMatchError(one) {
				return false
			}
		}
		return true
	}
	return meta.IsNoMatchError(err)
}

// discoverer asks a server which kinds it has.
type discoverer struct {
	discovery discovery.DiscoveryInterface
	metadata  metadata.Interface
}

func newDiscoverer(config *rest.Config, httpClient *http.Client) (*discoverer, error) {
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = nil
	d, err := discovery.NewDiscoveryClientForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, err
	}
	m, err := metadata.NewForConfigAndClient(config, httpClient)
	return &discoverer{d, m}, err
}

// find returns the resource of a kind, nil if the server has none; an error if that is not
// known.
func (d *discoverer) find(kind schema.GroupVersionKind) (*metav1.APIResource, error) {
	resources, err := d.discovery.ServerResourcesForGroupVersion(kind.GroupVersion().String())
	if apierrors.IsNotFound(err) { // it does not say so for a group whose server is away
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range resources.APIResources {
		if r := &resources.APIResources[i]; r.Kind == kind.Kind && !strings.Contains(r.Name, "/") {
			return r, nil
		}
	}
	return nil, nil
}

// serves reports whether the server has a kind, and lists its objects, in each of some namespaces
// if they are in any. If the program may not list them, the informer says so, unless the kind is
// optional.
func (d *discoverer) serves(ctx context.Context, kind schema.GroupVersionKind, optional bool, namespaces []string) bool {
	resource, err := d.find(kind)
	if err != nil || resource == nil {
		return false
	}
	if !resource.Namespaced {
		namespaces = []string{metav1.NamespaceAll}
	}
	of := d.metadata.Resource(kind.GroupVersion().WithResource(resource.Name))
	for _, namespace := range namespaces {
		// Without a version, since servers ignore the limit of a list at version 0.
		_, err := of.Namespace(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil && (optional || !apierrors.IsForbidden(err)) {
			return false
		}
	}
	return true
}

// lookAgain makes follow ask the server soon for missing kinds. It does not wait.
func (c *managerCache) lookAgain() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// follow follows which kinds the server has, until ctx ends.
func (c *managerCache) follow(ctx context.Context) {
	definitions, watching, soon := c.definitions(), false, time.Time{}
	var running sync.WaitGroup
	defer running.Wait()
	for {
		missing, gone := c.missing()
		if len(missing)+len(gone) > 0 && !watching {
			watching = true
			running.Go(func() { definitions.RunWithContext(ctx) })
		}
		c.lookFor(ctx, missing, gone)
		c.lookAfterSuspects()
		period := lookPeriod
		if time.Now().Before(soon) {
			period = soonPeriod
		}
		timer := time.NewTimer(period)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-c.wake:
			soon = time.Now().Add(soonTime)
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// definitions returns an informer of CustomResourceDefinitions that calls lookAgain for each
// change. If the program may not list them, follow asks from time to time all the same.
func (c *managerCache) definitions() toolscache.SharedIndexInformer {
	of := c.discover.metadata.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	informer := adapters.NewSharedIndexInformer(&toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return of.List(ctx, opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			return of.Watch(ctx, opts)
		},
	}, &metav1.PartialObjectMetadata{}, 0, toolscache.Indexers{})
	// None of these fails, as the informer does not run.
	_ = informer.SetWatchErrorHandlerWithContext(func(context.Context, *toolscache.Reflector, error) {})
	_ = informer.SetTransform(func(obj any) (any, error) {
		if of, ok := obj.(*metav1.PartialObjectMetadata); ok { // the rest is of no use
			return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: of.Name, ResourceVersion: of.ResourceVersion}}, nil
		}
		return obj, nil
	})
	_, _ = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { c.lookAgain() },
		UpdateFunc: func(any, any) { c.lookAgain() },
		DeleteFunc: func(any) { c.lookAgain() },
	})
	return informer
}

// missing returns the kinds that were asked for, or that ByObject names, and that are not served
// yet, and those that were.
func (c *managerCache) missing() (missing map[schema.GroupVersionKind][]*deferredInformer, gone []schema.GroupVersionKind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	missing = map[schema.GroupVersionKind][]*deferredInformer{}
	for of, d := range c.deferred {
		if !d.isAttached() {
			missing[of.kind] = append(missing[of.kind], d)
		}
	}
	for kind := range c.later {
		if missing[kind] == nil && c.caches[kind] == nil { // reads need the cache, even if no informer waits
			missing[kind] = nil
		}
	}
	return missing, slices.Collect(maps.Keys(c.gone))
}

// lookFor looks whether the server has kinds by now that it did not have.
func (c *managerCache) lookFor(ctx context.Context, missing map[schema.GroupVersionKind][]*deferredInformer, gone []schema.GroupVersionKind) {
	for _, kind := range gone {
		if c.discover.serves(ctx, kind, c.isOptional(kind), c.limits.of(kind)) {
			c.setGone(kind, nil)
		}
	}
	for kind, informers := range missing {
		if !c.discover.serves(ctx, kind, c.isOptional(kind), c.limits.of(kind)) {
			continue
		}
		to, err := c.begin(kind)
		for _, d := range informers {
			if err == nil {
				err = d.attach(ctx, to)
			}
		}
		if err != nil && !isNotServed(err) && ctx.Err() == nil {
			log.Error(err, "The informer of a kind that the server has by now does not begin, will try again", "kind", kind.String())
		}
	}
}

// begin returns the cache of a kind that the server has by now.
func (c *managerCache) begin(kind schema.GroupVersionKind) (cache.Cache, error) {
	c.mu.Lock()
	with, of := c.later[kind], c.caches[kind]
	c.mu.Unlock()
	switch {
	case with == nil:
		return c.Cache, nil
	case of != nil:
		return of, nil
	}
	made, err := c.newCache(with)
	if err != nil {
		return nil, err
	}
	of = &laterCache{Cache: made}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.caches[kind] = of
	c.runLater(of)
	return of, nil
}

// suspect notes that a request for objects of a kind has found no such resource.
func (c *managerCache) suspect(kind schema.GroupVersionKind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.suspects[kind]; !known && c.gone[kind] == nil {
		c.suspects[kind] = time.Time{}
		c.lookAgain()
	}
}

// lookAfterSuspects looks whether kinds have gone. They have if discovery says so twice;
// while it fails, nothing is known.
func (c *managerCache) lookAfterSuspects() {
	c.mu.Lock()
	suspects := maps.Clone(c.suspects)
	c.mu.Unlock()
	for kind, since := range suspects {
		resource, err := c.discover.find(kind)
		c.mu.Lock()
		switch {
		case err != nil:
		case resource != nil:
			delete(c.suspects, kind)
		case since.IsZero():
			c.suspects[kind] = time.Now()
		case time.Since(since) >= goneAfter:
			delete(c.suspects, kind)
			c.mu.Unlock()
			c.setGone(kind, noMatch(kind))
			continue
		}
		c.mu.Unlock()
	}
}

// missed looks after a kind of which a request has failed.
func (c *managerCache) missed(kind schema.GroupVersionKind, err error) {
	switch {
	case apierrors.IsNotFound(err):
		c.suspect(kind)
	case c.isOptional(kind):
		c.setGone(kind, err)
	}
}

// setGone closes the gates of a kind, of which reads return an error then, or opens them.
func (c *managerCache) setGone(kind schema.GroupVersionKind, gone error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.gone, kind)
	switch {
	case gone == nil:
	case apierrors.IsForbidden(gone):
		c.gone[kind] = gone
		log.Info("An optional kind may not be listed; its informer begins when it may", "kind", kind.String())
	default:
		c.gone[kind] = gone
		log.Info("The server does not have a kind any more; its objects are deleted", "kind", kind.String())
	}
	for of, gates := range c.gates {
		for _, g := range gates {
			if of.kind == kind && !(apierrors.IsForbidden(gone) && g.hasListed()) {
				g.set(gone != nil)
			}
		}
	}
}

// Waiting returns the kinds that the server does not have, or that are Optional and may not be
// listed, and for which informers of a cache wait that NewCache has made, or that its ByObject
// names, in order; nil if there are none, or the cache is another one.
func Waiting(c cache.Cache) []schema.GroupVersionKind {
	own, ok := c.(*managerCache)
	if !ok {
		return nil
	}
	missing, gone := own.missing()
	waiting := slices.Collect(maps.Keys(missing))
	for _, kind := range gone {
		if own.hasInformers(kind) {
			waiting = append(waiting, kind)
		}
	}
	slices.SortFunc(waiting, func(a, b schema.GroupVersionKind) int { return cmp.Compare(a.String(), b.String()) })
	return waiting
}

// hasInformers reports whether a kind that was served has informers that were not removed.
func (c *managerCache) hasInformers(kind schema.GroupVersionKind) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for of := range c.gates {
		if of.kind == kind {
			return true
		}
	}
	return false
}
