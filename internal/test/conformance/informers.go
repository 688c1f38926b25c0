package conformance

import (
	"context"
	"fmt"
	"sync"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// testReflector runs client-go's list/watch loop into its plainest store.
func testReflector(c *check) {
	for i := range 5 {
		c.create(fmt.Sprintf("a%d", i), map[string]string{"reflect": "me"})
	}
	lw := cache.NewFilteredListWatchFromClient(c.client.CoreV1().RESTClient(), "configmaps", c.ns,
		func(o *metav1.ListOptions) { o.LabelSelector = "reflect=me" })
	store := &announcing{Store: cache.NewStore(cache.MetaNamespaceKeyFunc), replaced: make(chan int, 1), added: make(chan string, 1)}
	reflector := cache.NewReflector(cache.ToListWatcherWithWatchListSemantics(lw, c.client), &corev1.ConfigMap{}, store, 0)
	ctx, stop := context.WithCancel(c.ctx)
	var running sync.WaitGroup
	running.Go(func() { reflector.RunWithContext(ctx) })
	defer running.Wait()
	defer stop()

	select {
	case n := <-store.replaced:
		assert.Equal(c, 5, n)
	case <-c.ctx.Done():
		require.Fail(c, "the reflector does not list")
	}
	c.create("b", map[string]string{"reflect": "me"})
	select {
	case name := <-store.added:
		assert.Equal(c, "b", name)
	case <-c.ctx.Done():
		require.Fail(c, "the reflector does not watch")
	}
	assert.Len(c, store.List(), 6)
}

// announcing is a store that announces the calls of a reflector.
type announcing struct {
	cache.Store
	replaced chan int
	added    chan string
}

func (s *announcing) Replace(objs []any, version string) error {
	defer func() { s.replaced <- len(objs) }()
	return s.Store.Replace(objs, version)
}

func (s *announcing) Add(obj any) error {
	defer func() { s.added <- obj.(*corev1.ConfigMap).Name }()
	return s.Store.Add(obj)
}

func testSharedInformer(c *check) {
	cm := c.create("a", nil)
	factory := informers.NewSharedInformerFactoryWithOptions(c.client, 0, informers.WithNamespace(c.ns))
	informer := factory.Core().V1().ConfigMaps()
	deleted := make(chan string, 1)
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		DeleteFunc: func(obj any) {
			key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
			assert.NoError(c, err)
			deleted <- key
		},
	})
	require.NoError(c, err)
	ctx, stop := context.WithCancel(c.ctx)
	defer factory.Shutdown()
	defer stop()
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(c.ctx.Done()) {
		require.True(c, synced, kind)
	}
	got, err := informer.Lister().ConfigMaps(c.ns).Get("a")
	require.NoError(c, err)
	assert.Equal(c, cm, got)
	require.NoError(c, c.maps.Delete(c.ctx, "a", metav1.DeleteOptions{}))
	select {
	case key := <-deleted:
		assert.Equal(c, c.ns+"/a", key)
	case <-c.ctx.Done():
		require.Fail(c, "the informer sees no deletion")
	}
}
