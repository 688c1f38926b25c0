package adapters_test

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
)

// factoryOf returns a factory over a fake clientset whose Pods are served by an
// informer of the implementation.
func factoryOf(impl implementation, client kubernetes.Interface, options ...informers.SharedInformerOption) informers.SharedInformerFactory {
	factory := informers.NewSharedInformerFactoryWithOptions(client, time.Minute, options...)
	factory.InformerFor(&corev1.Pod{}, func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return impl.simple(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				return client.CoreV1().Pods("").List(ctx, options)
			},
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				return client.CoreV1().Pods("").Watch(ctx, options)
			},
		}, client), &corev1.Pod{}, resync, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	})
	return factory
}

// A controller's test: a fake clientset, a factory, a lister, a handler.
func TestContractFactory(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl implementation) {
		client := fake.NewClientset(pod("a", "1"))
		factory := factoryOf(impl, client)
		inf, lister := factory.Core().V1().Pods().Informer(), factory.Core().V1().Pods().Lister()
		rec := &recorder{}
		handle, err := inf.AddEventHandler(rec)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer factory.Shutdown()
		defer cancel()
		factory.StartWithContext(ctx)
		factory.Start(ctx.Done()) // again
		podType := reflect.TypeFor[*corev1.Pod]()
		assert.Equal(t, map[reflect.Type]bool{podType: true}, factory.WaitForCacheSync(ctx.Done()))
		require.True(t, cache.WaitForCacheSync(ctx.Done(), handle.HasSynced))
		assert.Equal(t, []string{"initial ns/a@1"}, rec.next())

		_, err = client.CoreV1().Pods("ns").Create(ctx, pod("b", ""), metav1.CreateOptions{})
		require.NoError(t, err)
		changed := pod("b", "")
		changed.Labels = map[string]string{"color": "red"}
		_, err = client.CoreV1().Pods("ns").Update(ctx, changed, metav1.UpdateOptions{})
		require.NoError(t, err)
		synctest.Wait()
		red, err := lister.Pods("ns").List(labels.SelectorFromSet(labels.Set{"color": "red"}))
		require.NoError(t, err)
		require.Len(t, red, 1)
		assert.Equal(t, "b", red[0].Name)
		require.NoError(t, client.CoreV1().Pods("ns").Delete(ctx, "b", metav1.DeleteOptions{}))
		assert.Len(t, rec.next(), 3)
		all, err := lister.List(labels.Everything())
		require.NoError(t, err)
		assert.Len(t, all, 1)

		time.Sleep(time.Minute)
		assert.Equal(t, []string{"update ns/a@1 ns/a@1"}, rec.next(), "with the factory's resync")
	})
}

// The factory's typed and generic informers are the same one.
func TestContractFactoryForms(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl implementation) {
		factory := factoryOf(impl, fake.NewClientset(pod("a", "1")))
		var calls []string
		_, err := factory.Core().V1().Pods().TypedInformer().AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{
			AddFunc: func(p *corev1.Pod) { calls = append(calls, describe(p)) },
		})
		require.NoError(t, err)
		generic, err := factory.ForResource(corev1.SchemeGroupVersion.WithResource("pods"))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer factory.Shutdown()
		defer cancel()
		factory.StartWithContext(ctx)
		require.True(t, cache.WaitFor(ctx, "", generic.Informer().HasSyncedChecker()))
		synctest.Wait()
		assert.Equal(t, []string{"ns/a@1"}, calls)
		got, err := generic.Lister().ByNamespace("ns").Get("a")
		require.NoError(t, err)
		found, err := factory.Core().V1().Pods().TypedInformer().GetTypedIndexer().ByTypedIndex(cache.NamespaceIndex, "ns")
		require.NoError(t, err)
		require.Len(t, found, 1)
		assert.Same(t, got, found[0])
	})
}

func TestContractFactoryTransforms(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl implementation) {
		factory := factoryOf(impl, fake.NewClientset(pod("a", "1")), informers.WithTransform(mark))
		ctx, cancel := context.WithCancel(t.Context())
		defer factory.Shutdown()
		defer cancel()
		factory.StartWithContext(ctx)
		require.NoError(t, factory.WaitForCacheSyncWithContext(ctx).AsError())
		one, err := factory.Core().V1().Pods().Lister().Pods("ns").Get("a")
		require.NoError(t, err)
		assert.True(t, marked(one))
	})
}

func TestContractFactoryNeverSynced(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl implementation) {
		client := fake.NewClientset()
		client.PrependReactor("list", "pods", func(clientgotesting.Action) (bool, runtime.Object, error) { return true, nil, assert.AnError })
		factory := factoryOf(impl, client)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		assert.Empty(t, factory.WaitForCacheSync(ctx.Done()), "nothing was started")
		factory.StartWithContext(ctx)
		result := factory.WaitForCacheSyncWithContext(ctx)
		assert.Equal(t, map[reflect.Type]bool{reflect.TypeFor[*corev1.Pod](): false}, result.Synced)
		assert.ErrorIs(t, result.AsError(), context.DeadlineExceeded)
		factory.Shutdown()
		assert.True(t, factory.Core().V1().Pods().Informer().IsStopped())
		factory.StartWithContext(t.Context()) // does nothing
	})
}
