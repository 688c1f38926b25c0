package adapters_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/metadata/metadatainformer"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	typeddynamicinformer "github.com/kubetyped/informer/adapters/dynamicinformer"
	typedmetadatainformer "github.com/kubetyped/informer/adapters/metadatainformer"
)

// resourceFactory is the methods that dynamic and metadata factories have in
// common.
type resourceFactory interface {
	Start(stopCh <-chan struct{})
	ForResource(resource schema.GroupVersionResource) informers.GenericInformer
	WaitForCacheSync(stopCh <-chan struct{}) map[schema.GroupVersionResource]bool
	Shutdown()
}

// resourceClient is a fake client with two objects, ns/a and other/a, which can
// be asked what it was asked for.
type resourceClient interface {
	Actions() []clientgotesting.Action
	PrependReactor(verb, resource string, reaction clientgotesting.ReactionFunc)
}

// resourceImplementation makes factories, and single informers, with a resync
// period of a minute.
type resourceImplementation struct {
	name        string
	object      any // of the type that the objects are of
	newFactory  func(namespace string, tweak func(*metav1.ListOptions)) (resourceFactory, resourceClient)
	newInformer func(namespace string, tweak func(*metav1.ListOptions)) (informers.GenericInformer, resourceClient)
}

var pods = corev1.SchemeGroupVersion.WithResource("pods")

func newDynamicClient() *dynamicfake.FakeDynamicClient {
	other := thing("v1", "Pod", "a", "2")
	other.SetNamespace("other")
	return dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{pods: "PodList"}, thing("v1", "Pod", "a", "1"), other)
}

func newMetadataClient() *metadatafake.FakeMetadataClient {
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		panic(err)
	}
	of := func(p *corev1.Pod) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: p.ObjectMeta}
	}
	return metadatafake.NewSimpleMetadataClient(scheme, of(pod("a", "1")), of(podIn("other", "a", "2")))
}

var resourceImplementations = []resourceImplementation{
	{
		"client-go/dynamic", &unstructured.Unstructured{},
		func(namespace string, tweak func(*metav1.ListOptions)) (resourceFactory, resourceClient) {
			client := newDynamicClient()
			return dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, time.Minute, namespace, tweak), client
		},
		func(namespace string, tweak func(*metav1.ListOptions)) (informers.GenericInformer, resourceClient) {
			client := newDynamicClient()
			return dynamicinformer.NewFilteredDynamicInformer(client, pods, namespace, time.Minute, testIndexers(), tweak), client
		},
	},
	{
		"typed/dynamic", &unstructured.Unstructured{},
		func(namespace string, tweak func(*metav1.ListOptions)) (resourceFactory, resourceClient) {
			client := newDynamicClient()
			return typeddynamicinformer.NewFilteredDynamicSharedInformerFactory(client, time.Minute, namespace, tweak), client
		},
		func(namespace string, tweak func(*metav1.ListOptions)) (informers.GenericInformer, resourceClient) {
			client := newDynamicClient()
			return typeddynamicinformer.NewFilteredDynamicInformer(client, pods, namespace, time.Minute, testIndexers(), tweak), client
		},
	},
	{
		"client-go/metadata", &metav1.PartialObjectMetadata{},
		func(namespace string, tweak func(*metav1.ListOptions)) (resourceFactory, resourceClient) {
			client := newMetadataClient()
			return metadatainformer.NewFilteredSharedInformerFactory(client, time.Minute, namespace, tweak), client
		},
		func(namespace string, tweak func(*metav1.ListOptions)) (informers.GenericInformer, resourceClient) {
			client := newMetadataClient()
			return metadatainformer.NewFilteredMetadataInformer(client, pods, namespace, time.Minute, testIndexers(), tweak), client
		},
	},
	{
		"typed/metadata", &metav1.PartialObjectMetadata{},
		func(namespace string, tweak func(*metav1.ListOptions)) (resourceFactory, resourceClient) {
			client := newMetadataClient()
			return typedmetadatainformer.NewFilteredSharedInformerFactory(client, time.Minute, namespace, tweak), client
		},
		func(namespace string, tweak func(*metav1.ListOptions)) (informers.GenericInformer, resourceClient) {
			client := newMetadataClient()
			return typedmetadatainformer.NewFilteredMetadataInformer(client, pods, namespace, time.Minute, testIndexers(), tweak), client
		},
	},
}

func eachResourceImplementation(t *testing.T, test func(t *testing.T, impl resourceImplementation)) {
	t.Helper()
	for _, impl := range resourceImplementations {
		t.Run("impl="+impl.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, impl) })
		})
	}
}

// A controller's test: a fake client, a factory, a lister, a handler.
func TestContractResourceFactory(t *testing.T) {
	eachResourceImplementation(t, func(t *testing.T, impl resourceImplementation) {
		factory, _ := impl.newFactory("", nil)
		stop := make(chan struct{})
		assert.Empty(t, factory.WaitForCacheSync(stop), "nothing was started")
		generic := factory.ForResource(pods)
		assert.Same(t, generic.Informer(), factory.ForResource(pods).Informer())
		rec := &recorder{}
		_, err := generic.Informer().AddEventHandler(rec)
		require.NoError(t, err)
		factory.Start(stop)
		factory.Start(stop) // again
		assert.Equal(t, map[schema.GroupVersionResource]bool{pods: true}, factory.WaitForCacheSync(stop))
		assert.Equal(t, []string{"initial ns/a@1", "initial other/a@2"}, rec.nextSorted())
		assert.Contains(t, generic.Informer().GetIndexer().GetIndexers(), cache.NamespaceIndex)

		all, err := generic.Lister().List(labels.Everything())
		require.NoError(t, err)
		assert.Len(t, all, 2)
		one, err := generic.Lister().ByNamespace("ns").Get("a")
		require.NoError(t, err)
		assert.IsType(t, impl.object, one)
		_, err = generic.Lister().ByNamespace("ns").Get("b")
		assert.True(t, apierrors.IsNotFound(err))
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"update ns/a@1 ns/a@1", "update other/a@2 other/a@2"}, rec.nextSorted(), "with the factory's resync")
		close(stop)
		factory.Shutdown()
		factory.Shutdown()
		assert.True(t, generic.Informer().IsStopped())
	})
}

// A resource that is asked for after Start needs another Start.
func TestContractResourceFactoryStartsLater(t *testing.T) {
	eachResourceImplementation(t, func(t *testing.T, impl resourceImplementation) {
		factory, client := impl.newFactory("", nil)
		stop := make(chan struct{})
		factory.Start(stop)
		factory.ForResource(pods)
		synctest.Wait()
		assert.Empty(t, client.Actions())
		factory.Start(stop)
		assert.Equal(t, map[schema.GroupVersionResource]bool{pods: true}, factory.WaitForCacheSync(stop))
		close(stop)
		factory.Shutdown()
		factory.Start(make(chan struct{})) // does nothing
		factory.Shutdown()
	})
}

func TestContractResourceFactoryNeverSynced(t *testing.T) {
	eachResourceImplementation(t, func(t *testing.T, impl resourceImplementation) {
		factory, client := impl.newFactory("", nil)
		client.PrependReactor("list", "pods", func(clientgotesting.Action) (bool, runtime.Object, error) { return true, nil, assert.AnError })
		factory.ForResource(pods)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		factory.Start(ctx.Done())
		assert.Equal(t, map[schema.GroupVersionResource]bool{pods: false}, factory.WaitForCacheSync(ctx.Done()))
		factory.Shutdown()
	})
}

func TestContractResourceFactoryLimits(t *testing.T) {
	eachResourceImplementation(t, func(t *testing.T, impl resourceImplementation) {
		tweak := func(options *metav1.ListOptions) { options.LabelSelector = "color=red" }
		factory, asked := impl.newFactory("ns", tweak)
		factory.ForResource(pods)
		single, askedSingly := impl.newInformer("ns", tweak)
		assert.Len(t, single.Informer().GetIndexer().GetIndexers(), len(testIndexers()))
		stop := make(chan struct{})
		factory.Start(stop)
		start(t, single.Informer())
		synctest.Wait()
		for _, client := range []resourceClient{asked, askedSingly} {
			require.Len(t, client.Actions(), 2)
			list := client.Actions()[0].(clientgotesting.ListAction)
			assert.Equal(t, pods, list.GetResource())
			assert.Equal(t, "ns", list.GetNamespace())
			assert.Equal(t, "color=red", list.GetListRestrictions().Labels.String())
			assert.Equal(t, "ns", client.Actions()[1].GetNamespace())
		}
		close(stop)
		factory.Shutdown()
	})
}

func TestContractMetadataFactoryTransforms(t *testing.T) {
	for name, newFactory := range map[string]func() resourceFactory{
		"client-go": func() resourceFactory {
			return metadatainformer.NewSharedInformerFactoryWithOptions(newMetadataClient(), 0, metadatainformer.WithTransform(annotate))
		},
		"typed": func() resourceFactory {
			return typedmetadatainformer.NewSharedInformerFactoryWithOptions(newMetadataClient(), 0, typedmetadatainformer.WithTransform(annotate))
		},
	} {
		t.Run("impl="+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				factory := newFactory()
				generic := factory.ForResource(pods)
				stop := make(chan struct{})
				factory.Start(stop)
				factory.WaitForCacheSync(stop)
				one, err := generic.Lister().ByNamespace("ns").Get("a")
				require.NoError(t, err)
				assert.Equal(t, map[string]string{"seen": "yes"}, one.(metav1.Object).GetAnnotations())
				close(stop)
				factory.Shutdown()
			})
		})
	}
}

func annotate(obj any) (any, error) {
	obj.(metav1.Object).SetAnnotations(map[string]string{"seen": "yes"})
	return obj, nil
}
