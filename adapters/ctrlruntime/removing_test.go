package ctrlruntime

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// slowCache is a cache that waits before it makes an informer.
type slowCache struct {
	informertest.FakeInformers
	asked, goOn chan struct{}
	asking      sync.Once

	mu      sync.Mutex
	removed int // guarded by mu
}

func (c *slowCache) GetInformer(ctx context.Context, obj client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	c.asking.Do(func() { close(c.asked) })
	<-c.goOn
	return c.FakeInformers.GetInformer(ctx, obj, opts...)
}

func (c *slowCache) RemoveInformer(context.Context, client.Object) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removed++
	return nil
}

// TestRemovedInformersAreNotAttached: an informer that is removed while, or before, it is attached does
// not run afterwards.
func TestRemovedInformersAreNotAttached(t *testing.T) {
	pod := &corev1.Pod{}
	for name, during := range map[string]bool{"while": true, "before": false} {
		t.Run(name, func(t *testing.T) {
			of := &slowCache{FakeInformers: informertest.FakeInformers{Scheme: scheme.Scheme}, asked: make(chan struct{}), goOn: make(chan struct{})}
			c := &managerCache{Cache: of, settings: &settings{scheme: scheme.Scheme}, deferred: map[kindOf]*deferredInformer{}, wake: make(chan struct{}, 1)}
			kind, err := c.kindOf(pod)
			require.NoError(t, err)
			waits := c.deferInformer(kind, pod)
			_, err = waits.AddEventHandler(toolscache.ResourceEventHandlerFuncs{})
			require.NoError(t, err)
			var attaching sync.WaitGroup
			attach := func() { attaching.Go(func() { assert.NoError(t, waits.attach(context.Background(), of)) }) }
			if during {
				attach()
				<-of.asked
				go close(of.goOn)
				require.NoError(t, c.RemoveInformer(context.Background(), pod))
				attaching.Wait()
				assert.Equal(t, 1, of.removed, "what it has made is removed")
				return
			}
			close(of.goOn)
			require.NoError(t, c.RemoveInformer(context.Background(), pod))
			attach()
			attaching.Wait()
			assert.Nil(t, waits.attached())
		})
	}
}
