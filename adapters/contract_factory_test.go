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
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	typedinformers "github.com/kubetyped/informer/adapters/informers"
)

// factorySettings are the options of a factory.
type factorySettings struct {
	namespace string
	tweak     func(*metav1.ListOptions)
	transform cache.TransformFunc
	resyncs   map[metav1.Object]time.Duration
}

// newFactory makes a factory with a resync period of a minute.
type newFactory func(kubernetes.Interface, factorySettings) informers.SharedInformerFactory

// eachFactory runs a test with client-go's factory, with the same after Pods are
// served, and with the one that takes its place.
func eachFactory(t *testing.T, test func(t *testing.T, factory newFactory)) {
	t.Helper()
	for name, factory := range map[string]newFactory{"client-go": clientGoFactory, "served": servedFactory, "typed": typedFactory} {
		t.Run("impl="+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, factory) })
		})
	}
}

func clientGoFactory(client kubernetes.Interface, s factorySettings) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactoryWithOptions(client, time.Minute,
		informers.WithNamespace(s.namespace), informers.WithTweakListOptions(s.tweak),
		informers.WithTransform(s.transform), informers.WithCustomResyncConfig(s.resyncs))
}

func servedFactory(client kubernetes.Interface, s factorySettings) informers.SharedInformerFactory {
	factory := clientGoFactory(client, s)
	if err := adapters.Serve(factory, client.CoreV1().Pods(s.namespace), s.tweak); err != nil {
		panic(err)
	}
	return factory
}

func typedFactory(client kubernetes.Interface, s factorySettings) informers.SharedInformerFactory {
	return typedinformers.NewSharedInformerFactoryWithOptions(client, time.Minute,
		typedinformers.WithNamespace(s.namespace), typedinformers.WithTweakListOptions(s.tweak),
		typedinformers.WithTransform(s.transform), typedinformers.WithCustomResyncConfig(s.resyncs))
}

// A controller's test: a fake clientset, a factory, a lister, a handler.
func TestContractFactory(t *testing.T) {
	eachFactory(t, func(t *testing.T, newFactory newFactory) {
		client := fake.NewClientset(pod("a", "1"))
		factory := newFactory(client, factorySettings{})
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
	eachFactory(t, func(t *testing.T, newFactory newFactory) {
		factory := newFactory(fake.NewClientset(pod("a", "1")), factorySettings{})
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
	eachFactory(t, func(t *testing.T, newFactory newFactory) {
		factory := newFactory(fake.NewClientset(pod("a", "1")), factorySettings{transform: mark})
		factory.Core().V1().Pods().Informer()
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

// Stores hold the results of a transform, even if these are of another type.
func TestContractFactoryTransformsToAnotherType(t *testing.T) {
	eachFactory(t, func(t *testing.T, newFactory newFactory) {
		factory := newFactory(fake.NewClientset(pod("a", "1")), factorySettings{transform: func(obj any) (any, error) {
			return &metav1.PartialObjectMetadata{ObjectMeta: obj.(*corev1.Pod).ObjectMeta}, nil
		}})
		store := factory.Core().V1().Pods().Informer().GetStore()
		ctx, cancel := context.WithCancel(t.Context())
		defer factory.Shutdown()
		defer cancel()
		factory.StartWithContext(ctx)
		require.NoError(t, factory.WaitForCacheSyncWithContext(ctx).AsError())
		one, _, err := store.GetByKey("ns/a")
		require.NoError(t, err)
		assert.IsType(t, &metav1.PartialObjectMetadata{}, one)
	})
}

func TestContractFactoryNeverSynced(t *testing.T) {
	eachFactory(t, func(t *testing.T, newFactory newFactory) {
		client := fake.NewClientset()
		client.PrependReactor("list", "pods", func(clientgotesting.Action) (bool, runtime.Object, error) { return true, nil, assert.AnError })
		factory := newFactory(client, factorySettings{})
		factory.Core().V1().Pods().Informer()
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

// The namespace and the tweak of a factory apply to all of its informers.
func TestContractFactoryLimits(t *testing.T) {
	eachFactory(t, func(t *testing.T, newFactory newFactory) {
		client := fake.NewClientset(pod("a", "1"), podIn("other", "a", "2"))
		factory := newFactory(client, factorySettings{
			namespace: "ns",
			tweak:     func(options *metav1.ListOptions) { options.LabelSelector = "color=red" },
		})
		pods := factory.Core().V1().Pods()
		generic, err := factory.ForResource(corev1.SchemeGroupVersion.WithResource("pods"))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer factory.Shutdown()
		defer cancel()
		assert.Same(t, pods.Informer().GetIndexer(), generic.Informer().GetIndexer())
		factory.StartWithContext(ctx)
		require.NoError(t, factory.WaitForCacheSyncWithContext(ctx).AsError())
		synctest.Wait()
		require.Len(t, client.Actions(), 2)
		list := client.Actions()[0].(clientgotesting.ListAction)
		assert.Equal(t, "ns", list.GetNamespace())
		assert.Equal(t, "color=red", list.GetListRestrictions().Labels.String())
		watch := client.Actions()[1].(clientgotesting.WatchAction)
		assert.Equal(t, "ns", watch.GetNamespace())
		assert.Equal(t, "color=red", watch.GetWatchRestrictions().Labels.String())
	})
}

func TestContractFactoryResyncsByType(t *testing.T) {
	eachFactory(t, func(t *testing.T, newFactory newFactory) {
		factory := newFactory(fake.NewClientset(pod("a", "1")), factorySettings{
			resyncs: map[metav1.Object]time.Duration{&corev1.Pod{}: 7 * time.Second},
		})
		rec := &recorder{}
		_, err := factory.Core().V1().Pods().Informer().AddEventHandler(rec)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer factory.Shutdown()
		defer cancel()
		factory.StartWithContext(ctx)
		assert.Equal(t, []string{"initial ns/a@1"}, rec.next())
		time.Sleep(7 * time.Second)
		assert.Equal(t, []string{"update ns/a@1 ns/a@1"}, rec.next())
	})
}

// The first function given to InformerFor makes the informer. Later requests return the same one,
// instead of one that the factory would make itself.
func TestContractFactoryInformerFor(t *testing.T) {
	eachFactory(t, func(t *testing.T, newFactory newFactory) {
		client := fake.NewClientset()
		factory := newFactory(client, factorySettings{transform: mark})
		var resyncs []time.Duration
		newNodes := func(clientset kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
			assert.Same(t, client, clientset)
			resyncs = append(resyncs, resync)
			return adapters.NewSharedIndexInformerWithOptions(&script{}, &corev1.Node{}, cache.SharedIndexInformerOptions{Indexers: testIndexers()})
		}
		nodes := factory.InformerFor(&corev1.Node{}, newNodes)
		assert.Equal(t, []time.Duration{time.Minute}, resyncs)
		assert.Same(t, nodes, factory.InformerFor(&corev1.Node{}, newNodes))
		assert.Same(t, nodes.GetIndexer(), factory.Core().V1().Nodes().Informer().GetIndexer())
		generic, err := factory.ForResource(corev1.SchemeGroupVersion.WithResource("nodes"))
		require.NoError(t, err)
		assert.Same(t, nodes.GetIndexer(), generic.Informer().GetIndexer())
		assert.Len(t, resyncs, 1)
	})
}

// Tests make factories without a clientset, to fill their stores.
func TestContractFactoryWithoutClient(t *testing.T) {
	for name, newFactory := range map[string]newFactory{"client-go": clientGoFactory, "typed": typedFactory} {
		t.Run("impl="+name, func(t *testing.T) {
			factory := newFactory(nil, factorySettings{})
			require.NoError(t, factory.Core().V1().Pods().Informer().GetIndexer().Add(pod("a", "1")))
			found, err := factory.Core().V1().Pods().Lister().Pods("ns").Get("a")
			require.NoError(t, err)
			assert.Equal(t, "a", found.Name)
		})
	}
}

func TestContractFactoryUnknownResource(t *testing.T) {
	eachFactory(t, func(t *testing.T, newFactory newFactory) {
		_, err := newFactory(fake.NewClientset(), factorySettings{}).ForResource(corev1.SchemeGroupVersion.WithResource("unknown"))
		assert.ErrorContains(t, err, "no informer found")
	})
}

// An informer name makes metrics of the factory's informers.
func TestContractFactoryInformerName(t *testing.T) {
	for impl, newFactory := range map[string]func(kubernetes.Interface, *cache.InformerName) informers.SharedInformerFactory{
		"client-go": func(client kubernetes.Interface, name *cache.InformerName) informers.SharedInformerFactory {
			return informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithInformerName(name))
		},
		"typed": func(client kubernetes.Interface, name *cache.InformerName) informers.SharedInformerFactory {
			return typedinformers.NewSharedInformerFactoryWithOptions(client, 0, typedinformers.WithInformerName(name))
		},
	} {
		t.Run("impl="+impl, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := processMetrics.reset()
				name, err := cache.NewInformerName("factory")
				require.NoError(t, err)
				factory := newFactory(fake.NewClientset(pod("a", "7")), name)
				assert.Same(t, name, factory.InformerName())
				factory.Core().V1().Pods().Lister()
				ctx, cancel := context.WithCancel(t.Context())
				factory.StartWithContext(ctx)
				require.NoError(t, factory.WaitForCacheSyncWithContext(ctx).AsError())
				assert.Equal(t, []float64{1, 0}, g.queued.all())
				require.Len(t, g.ids, 1)
				for id := range g.ids {
					assert.Equal(t, "factory", id.Name())
					assert.Equal(t, corev1.SchemeGroupVersion.WithResource("pods"), id.GroupVersionResource())
					assert.True(t, id.Reserved())
				}
				cancel()
				factory.Shutdown()
				for id := range g.ids {
					assert.False(t, id.Reserved(), "the name can be used again")
				}
			})
		})
	}
}
