package adapters_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/dynamiclister"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/metadata/metadatalister"
	"k8s.io/client-go/tools/cache"
	cachetesting "k8s.io/client-go/tools/cache/testing"
)

// cachetesting's source is what client-go's own users test with.
func TestContractFakeControllerSource(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		source := cachetesting.NewFakeControllerSource()
		defer source.Shutdown()
		source.Add(pod("a", ""))
		inf := pods(source, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{}})
		rec := &recorder{}
		_, err := inf.AddEventHandler(rec)
		require.NoError(t, err)
		stop, ended := start(t, inf)
		assert.Equal(t, []string{"initial ns/a@1"}, rec.next())
		source.Add(pod("b", ""))
		source.Modify(pod("b", ""))
		source.Delete(pod("a", ""))
		assert.Equal(t, []string{"add ns/b@2", "update ns/b@2 ns/b@3", "delete ns/a@4"}, rec.next())

		source.AddDropWatch(pod("c", ""))
		source.ModifyDropWatch(pod("b", ""))
		assert.Empty(t, rec.next())
		source.ResetWatch()
		assert.Empty(t, rec.next())
		time.Sleep(time.Minute)
		assert.ElementsMatch(t, []string{"add ns/c@5", "update ns/b@3 ns/b@6"}, rec.next())
		source.DeleteDropWatch(pod("c", ""))
		source.ResetWatch()
		time.Sleep(time.Minute)
		assert.ElementsMatch(t, []string{"update ns/b@6 ns/b@6", "delete tombstone(ns/c ns/c@5)"}, rec.next())
		stop()
		<-ended
	})
}

// Informers on the dynamic client, with the lister that dynamicinformer has.
func TestContractDynamicInformer(t *testing.T) {
	gvr := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}
	eachImplementation(t, func(t *testing.T, impl implementation) {
		client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
			map[schema.GroupVersionResource]string{gvr: "ThingList"}, thing("example.com/v1", "Thing", "a", "1"))
		inf := impl.withOptions(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				return client.Resource(gvr).List(ctx, options)
			},
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				return client.Resource(gvr).Watch(ctx, options)
			},
		}, client), &unstructured.Unstructured{}, cache.SharedIndexInformerOptions{
			Indexers:          cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
			ObjectDescription: gvr.String(),
		})
		rec := &recorder{}
		_, err := inf.AddEventHandler(rec)
		require.NoError(t, err)
		start(t, inf)
		assert.Equal(t, []string{"initial ns/a@1"}, rec.next())
		_, err = client.Resource(gvr).Namespace("ns").Create(t.Context(), thing("example.com/v1", "Thing", "b", "2"), metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, client.Resource(gvr).Namespace("ns").Delete(t.Context(), "a", metav1.DeleteOptions{}))
		assert.Equal(t, []string{"add ns/b@2", "delete ns/a@1"}, rec.next())
		lister := dynamiclister.New(inf.GetIndexer(), gvr)
		one, err := lister.Namespace("ns").Get("b")
		require.NoError(t, err)
		assert.Equal(t, "Thing", one.GetKind())
		all, err := dynamiclister.NewRuntimeObjectShim(lister).ByNamespace("ns").List(labels.Everything())
		require.NoError(t, err)
		assert.Len(t, all, 1)
		_, err = lister.Namespace("ns").Get("a")
		assert.EqualError(t, err, `things.example.com "a" not found`)
	})
}

// Informers on the metadata client, with the lister that metadatainformer has.
func TestContractMetadataInformer(t *testing.T) {
	gvr := corev1.SchemeGroupVersion.WithResource("pods")
	eachImplementation(t, func(t *testing.T, impl implementation) {
		scheme := metadatafake.NewTestScheme()
		require.NoError(t, metav1.AddMetaToScheme(scheme))
		partial := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: pod("a", "1").ObjectMeta}
		client := metadatafake.NewSimpleMetadataClient(scheme, partial)
		inf := impl.withOptions(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				return client.Resource(gvr).List(ctx, options)
			},
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				return client.Resource(gvr).Watch(ctx, options)
			},
		}, client), &metav1.PartialObjectMetadata{}, cache.SharedIndexInformerOptions{
			Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		})
		rec := &recorder{}
		_, err := inf.AddEventHandler(rec)
		require.NoError(t, err)
		start(t, inf)
		assert.Equal(t, []string{"initial ns/a@1"}, rec.next())
		one, err := metadatalister.New(inf.GetIndexer(), gvr).Namespace("ns").Get("a")
		require.NoError(t, err)
		assert.Equal(t, "a", one.Name)
		require.NoError(t, client.Resource(gvr).Namespace("ns").Delete(t.Context(), "a", metav1.DeleteOptions{}))
		synctest.Wait()
		assert.Empty(t, inf.GetStore().List())
	})
}
