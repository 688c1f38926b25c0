package adapters_test

import (
	"context"
	"fmt"
	"sync/atomic"
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
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
)

// TestServe: a factory serves Pods and Nodes from the typed core, with its own resync period and
// transform.
func TestServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clientset := fake.NewClientset(
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}},
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "db"}},
			&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}},
		)
		factory := informers.NewSharedInformerFactoryWithOptions(clientset, time.Minute, informers.WithTransform(func(obj any) (any, error) {
			obj.(metav1.Object).SetAnnotations(map[string]string{"seen": "yes"})
			return obj, nil
		}))
		var tweaked atomic.Int32
		require.NoError(t, adapters.Serve(factory, clientset.CoreV1().Pods("shop"), func(*metav1.ListOptions) { tweaked.Add(1) }))
		require.NoError(t, adapters.Serve(factory, clientset.CoreV1().Nodes()))

		pods, nodes := factory.Core().V1().Pods(), factory.Core().V1().Nodes()
		resyncs := 0
		_, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { resyncs++ }})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		factory.StartWithContext(ctx)
		require.NoError(t, factory.WaitForCacheSyncWithContext(ctx).AsError())

		found, err := pods.Lister().Pods("shop").List(labels.Everything())
		require.NoError(t, err)
		require.Len(t, found, 1)
		assert.Equal(t, "yes", found[0].Annotations["seen"])
		all, err := pods.Lister().List(labels.Everything())
		require.NoError(t, err)
		assert.Len(t, all, 1, "the client was for one namespace")
		synctest.Wait()
		assert.EqualValues(t, 2, tweaked.Load(), "a list and a watch")
		_, err = nodes.Lister().Get("node-1")
		require.NoError(t, err)
		typed, err := pods.TypedInformer().GetTypedIndexer().ByTypedIndex(cache.NamespaceIndex, "shop")
		require.NoError(t, err)
		assert.Equal(t, found, typed)
		time.Sleep(61 * time.Second)
		synctest.Wait()
		assert.Equal(t, 1, resyncs)
		cancel()
		factory.Shutdown()
	})
}

func TestServeRejectsBadArguments(t *testing.T) {
	clientset := fake.NewClientset()
	factory := informers.NewSharedInformerFactory(clientset, 0)
	factory.Core().V1().Pods().Informer()
	assert.ErrorContains(t, adapters.Serve(factory, clientset.CoreV1().Pods("")), "call Serve first")
	assert.ErrorContains(t, adapters.Serve(factory, typedcorev1.NodeInterface(nil)), "client is nil")
	assert.ErrorContains(t, adapters.Serve(informers.SharedInformerFactory(nil), clientset.CoreV1().Nodes()), "factory is nil")
}

// TestServeHeedsLimits: Serve returns an error unless the client has the factory's limits.
func TestServeHeedsLimits(t *testing.T) {
	clientset, err := kubernetes.NewForConfig(&rest.Config{Host: "http://example.com"})
	require.NoError(t, err)
	name, err := cache.NewInformerName("limits")
	require.NoError(t, err)
	t.Cleanup(name.Release)
	var (
		inNamespace = informers.WithNamespace("shop")
		tweaked     = informers.WithTweakListOptions(func(*metav1.ListOptions) {})
		named       = informers.WithInformerName(name)
		tweak       = func(*metav1.ListOptions) {}
	)
	for _, client := range []kubernetes.Interface{clientset, fake.NewClientset()} {
		for _, test := range []struct {
			option  informers.SharedInformerOption
			serve   func(informers.SharedInformerFactory) error
			refused string // "": it is served
		}{
			{inNamespace, func(f informers.SharedInformerFactory) error { return adapters.Serve(f, client.CoreV1().Pods("")) }, `limited to namespace "shop", and the client is for ""`},
			{inNamespace, func(f informers.SharedInformerFactory) error { return adapters.Serve(f, client.CoreV1().Pods("other")) }, `the client is for "other"`},
			{inNamespace, func(f informers.SharedInformerFactory) error { return adapters.Serve(f, client.CoreV1().Nodes()) }, "InformerFor"},
			{inNamespace, func(f informers.SharedInformerFactory) error { return adapters.Serve(f, client.CoreV1().Pods("shop")) }, ""},
			{tweaked, func(f informers.SharedInformerFactory) error { return adapters.Serve(f, client.CoreV1().Pods("")) }, "give them to Serve as well"},
			{tweaked, func(f informers.SharedInformerFactory) error {
				return adapters.Serve(f, client.CoreV1().Pods(""), tweak)
			}, ""},
			{named, func(f informers.SharedInformerFactory) error { return adapters.Serve(f, client.CoreV1().Pods("")) }, "WithResource"},
			{informers.WithNamespace(""), func(f informers.SharedInformerFactory) error { return adapters.Serve(f, client.CoreV1().Pods("shop")) }, ""},
		} {
			factory := informers.NewSharedInformerFactoryWithOptions(client, 0, test.option)
			err := test.serve(factory)
			if test.refused == "" {
				assert.NoError(t, err)
				continue
			}
			assert.ErrorContains(t, err, test.refused)
			pods := factory.Core().V1().Pods().Informer().GetIndexer()
			assert.NotContains(t, fmt.Sprintf("%T", pods), "adapters.", "nothing was changed")
		}
	}
}

// otherFactory is a factory that was generated for other kinds: it declares its own type of the
// functions that make informers.
type otherFactory struct {
	clientset kubernetes.Interface
	made      cache.SharedIndexInformer
}

type newOther func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer

func (f *otherFactory) InformerFor(_ runtime.Object, newFunc newOther) cache.SharedIndexInformer {
	f.made = newFunc(f.clientset, time.Hour)
	return f.made
}

func TestServeOfAnotherFactory(t *testing.T) {
	clientset := fake.NewClientset()
	factory := &otherFactory{clientset: clientset}
	require.NoError(t, adapters.Serve(factory, clientset.CoreV1().Nodes()))
	assert.Contains(t, factory.made.GetIndexer().GetIndexers(), cache.NamespaceIndex)
}
