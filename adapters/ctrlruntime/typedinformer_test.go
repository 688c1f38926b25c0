package ctrlruntime_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// runCache runs a cache until the test ends, for a minute at most.
func runCache(t *testing.T, c cache.Cache) context.Context { return runCacheFor(t, c, time.Minute) }

func runCacheFor(t *testing.T, c cache.Cache, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(t, c.Start(ctx)) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return ctx
}

// TestInformerIsThatOfTheCache: what Informer returns has the very objects of the cache, by
// one watch, with typed indexes; and giving it up ends nothing else.
func TestInformerIsThatOfTheCache(t *testing.T) {
	for name, opts := range map[string][]ctrlruntime.CacheOption{
		"plain":   {ctrlruntime.Typed[*corev1.Pod]()},
		"sharing": {ctrlruntime.Typed[*corev1.Pod](), ctrlruntime.WithDeduplication()},
	} {
		t.Run(name, func(t *testing.T) {
			srv := startWithWidgets(t)
			on := func(name, node string) *corev1.Pod {
				return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: name}, Spec: corev1.PodSpec{NodeName: node}}
			}
			require.NoError(t, srv.Create(t.Context(), on("a", "x"), on("b", "y"), on("c", "x")))
			c, err := ctrlruntime.NewCache(opts...)(srv.Config(), cache.Options{})
			require.NoError(t, err)
			pods, err := ctrlruntime.Informer[*corev1.Pod](c)
			require.NoError(t, err)
			byNode := index.New("node", func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} })
			require.NoError(t, pods.AddIndexes(byNode))
			ctx := runCache(t, c)
			require.NoError(t, pods.WaitForSync(ctx))
			assert.Len(t, byNode.Get("x"), 2)

			var read corev1.Pod
			require.NoError(t, c.Get(ctx, client.ObjectKey{Namespace: "one", Name: "a"}, &read, client.UnsafeDisableDeepCopy))
			held, ok := pods.Get(index.Key{Namespace: "one", Name: "a"})
			require.True(t, ok)
			assert.Equal(t, held.UID, read.UID)
			assert.Equal(t, 1, srv.Watches("pods"), "there is one watch")

			added := make(chan string, 10)
			_, err = pods.Handle(typed.HandlerFuncs[*corev1.Pod]{AddFunc: func(p *corev1.Pod, _ bool) { added <- p.Name }})
			require.NoError(t, err)
			for range 3 {
				<-added
			}
			pods.Release()
			_, err = pods.Handle(typed.HandlerFuncs[*corev1.Pod]{})
			require.ErrorIs(t, err, index.ErrReleased)
			var list corev1.PodList
			require.NoError(t, c.List(ctx, &list), "the manager's informer runs on")
			assert.Len(t, list.Items, 3)
			again, err := ctrlruntime.Informer[*corev1.Pod](c)
			require.NoError(t, err)
			assert.Equal(t, 3, again.Len())
		})
	}
}

// TestInformerErrors: the errors say what to do.
func TestInformerErrors(t *testing.T) {
	srv := startWithWidgets(t)
	newCache := func(o cache.Options, opts ...ctrlruntime.CacheOption) cache.Cache {
		o.Scheme = withWidgets
		c, err := ctrlruntime.NewCache(opts...)(srv.Config(), o)
		require.NoError(t, err)
		return c
	}
	_, err := ctrlruntime.Informer[*corev1.Pod](newCache(cache.Options{}, ctrlruntime.Typed[*corev1.Node]()))
	require.EqualError(t, err, "informer of *v1.Pod: the cache does not keep these objects by their type; give ctrlruntime.NewCache the option ctrlruntime.Typed[*v1.Pod]()")
	theirs, err := cache.New(srv.Config(), cache.Options{})
	require.NoError(t, err)
	for _, other := range []cache.Cache{theirs, nil} {
		_, err = ctrlruntime.Informer[*corev1.Pod](other)
		require.ErrorContains(t, err, "set options.NewCache")
	}
	some := newCache(cache.Options{DefaultNamespaces: map[string]cache.Config{"one": {}}}, ctrlruntime.Typed[*corev1.Pod]())
	_, err = ctrlruntime.Informer[*corev1.Pod](some)
	require.True(t, some.WaitForCacheSync(runCache(t, some)))
	require.ErrorContains(t, err, "leave DefaultNamespaces")

	config := &rest.Config{Host: "http://127.0.0.1:1"}
	for want, opts := range map[string][]ctrlruntime.CacheOption{
		"the type is no pointer to a struct":  {ctrlruntime.Typed[client.Object]()},
		"objects of any kind":                 {ctrlruntime.Typed[*unstructured.Unstructured]()},
		"objects of any kind can be":          {ctrlruntime.Typed[*metav1.PartialObjectMetadata]()},
		"the type is named twice":             {ctrlruntime.Typed[*corev1.Pod](), ctrlruntime.Typed[*corev1.Pod]()},
		"Typed[*ctrlruntime_test.widget]: no": {ctrlruntime.Typed[*widget]()},
	} {
		_, err := ctrlruntime.NewCache(opts...)(config, cache.Options{})
		require.ErrorContains(t, err, want)
	}
	assert.False(t, meta.IsNoMatchError(err))
}

// TestInformerOfAKindThatComesLater: Informer returns that of a kind once the server has it, though
// the kind was asked for before.
func TestInformerOfAKindThatComesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newKindServer(t)
		require.NoError(t, srv.Create(t.Context(), newWidget("a", 1)))
		c, err := ctrlruntime.NewCache(ctrlruntime.Typed[*widget]())(srv.config(), cache.Options{Scheme: withWidgets})
		require.NoError(t, err)
		_, err = ctrlruntime.Informer[*widget](c)
		require.True(t, meta.IsNoMatchError(err))
		ctx := runCacheFor(t, c, time.Hour)
		require.True(t, c.WaitForCacheSync(ctx))

		srv.served.Store(true)
		time.Sleep(11 * time.Second)
		widgets, err := ctrlruntime.Informer[*widget](c)
		require.NoError(t, err)
		require.NoError(t, widgets.WaitForSync(ctx))
		assert.Equal(t, 1, widgets.Len())
	})
}
