package peers

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// controllerRuntimeCache is the cache of a manager.
type controllerRuntimeCache struct {
	tb  testing.TB
	ctx context.Context
	cache.Cache
	end func()
}

// startControllerRuntime starts a cache that returns the objects that it holds, which its
// options call unsafe.
func startControllerRuntime(tb testing.TB, from *source, handlers ...calls) podCache {
	return startControllerRuntimeWith(tb, cache.Options{DefaultUnsafeDisableDeepCopy: new(true)}, from, handlers...)
}

// startCopies starts a cache that returns copies, which is its default.
func startCopies(tb testing.TB, from *source, handlers ...calls) podCache {
	return startControllerRuntimeWith(tb, cache.Options{}, from, handlers...)
}

// startControllerRuntimeWith starts a cache whose informer lists and watches
// from, rather than the server that the config would name.
func startControllerRuntimeWith(tb testing.TB, opts cache.Options, from *source, handlers ...calls) podCache {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	opts.Scheme, opts.Mapper, opts.HTTPClient = scheme.Scheme, mapper, http.DefaultClient
	opts.NewInformer = func(_ toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		return toolscache.NewSharedIndexInformer(from, object, resync, indexers)
	}
	made, err := cache.New(&rest.Config{}, opts)
	require.NoError(tb, err)
	ctx, cancel := context.WithCancel(context.Background())
	c := &controllerRuntimeCache{tb: tb, ctx: ctx, Cache: made}

	require.NoError(tb, c.IndexField(ctx, &corev1.Pod{}, "spec.nodeName", func(object client.Object) []string {
		if node := object.(*corev1.Pod).Spec.NodeName; node != "" {
			return []string{node}
		}
		return nil
	}))
	require.NoError(tb, c.IndexField(ctx, &corev1.Pod{}, "app", func(object client.Object) []string {
		if app, ok := object.GetLabels()["app"]; ok {
			return []string{app}
		}
		return nil
	}))
	informer, err := c.GetInformer(ctx, &corev1.Pod{})
	require.NoError(tb, err)
	var registrations []toolscache.ResourceEventHandlerRegistration
	for _, h := range handlers {
		registration, err := informer.AddEventHandler(resourceHandler(h))
		require.NoError(tb, err)
		registrations = append(registrations, registration)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	c.end = func() {
		cancel()
		require.NoError(tb, <-ended)
	}
	require.True(tb, c.WaitForCacheSync(ctx))
	for _, registration := range registrations {
		<-registration.HasSyncedChecker().Done()
	}
	return c
}

func resourceHandler(h calls) toolscache.ResourceEventHandlerFuncs {
	var funcs toolscache.ResourceEventHandlerFuncs
	if h.add != nil {
		funcs.AddFunc = func(obj any) { h.add(obj.(*corev1.Pod)) }
	}
	if h.update != nil {
		funcs.UpdateFunc = func(_, updated any) { h.update(updated.(*corev1.Pod), 0) }
	}
	return funcs
}

// get fills in a new Pod, as a reconciler does.
func (c *controllerRuntimeCache) get(key podKey) (*corev1.Pod, bool) {
	var pod corev1.Pod
	err := c.Get(c.ctx, client.ObjectKey{Namespace: key.Namespace, Name: key.Name}, &pod)
	return &pod, err == nil
}

func (c *controllerRuntimeCache) byApp(app string) found {
	return c.list(client.MatchingFields{"app": app})
}

func (c *controllerRuntimeCache) byNode(node string) found {
	return c.list(client.MatchingFields{"spec.nodeName": node})
}

func (c *controllerRuntimeCache) inNamespace(namespace string) found {
	return c.list(client.InNamespace(namespace))
}

func (c *controllerRuntimeCache) all() found { return c.list() }

func (c *controllerRuntimeCache) list(opts ...client.ListOption) found {
	var list corev1.PodList
	if err := c.List(c.ctx, &list, opts...); err != nil {
		c.tb.Fatal(err)
	}
	return found{values: list.Items}
}

func (c *controllerRuntimeCache) stop() { c.end() }
