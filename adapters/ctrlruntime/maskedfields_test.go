package ctrlruntime_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/typed/kube"
)

// TestMaskedFieldsFindOrRefuse: a List by labels or a field that are left out is an error, in all
// forms of objects, and never an empty list; all else finds what there is.
func TestMaskedFieldsFindOrRefuse(t *testing.T) {
	srv := startWithWidgets(t)
	require.NoError(t, srv.Create(t.Context(), objects("one", "web-0", "shop")...))
	made := startCache(t, ctrlruntime.NewCache(ctrlruntime.WithDeduplication(),
		ctrlruntime.ForKind(&corev1.Pod{}, kube.WithFields("spec.nodeName")),
		ctrlruntime.ForKind(unstructuredOf(widgetKind), kube.WithoutFields("metadata.labels")),
		ctrlruntime.ForKind(metadataOf(widgetKind), kube.WithoutFields("metadata.labels")),
	), srv.Config(), cache.Options{})
	shop := client.MatchingLabels{"app": "shop"}
	lists := func() map[string]client.ObjectList {
		untyped, metadata := &unstructured.UnstructuredList{}, &metav1.PartialObjectMetadataList{}
		untyped.SetGroupVersionKind(widgetKind.GroupVersion().WithKind(widgetKind.Kind + "List"))
		metadata.SetGroupVersionKind(widgetKind.GroupVersion().WithKind(widgetKind.Kind + "List"))
		return map[string]client.ObjectList{"typed": &corev1.PodList{}, "unstructured": untyped, "metadata": metadata}
	}
	for form, list := range lists() {
		assert.ErrorContains(t, made.List(t.Context(), list, shop), "the cache leaves metadata.labels out of", form)
		require.NoError(t, made.List(t.Context(), list, client.MatchingLabels{}), form)
	}
	var nodes corev1.NodeList
	require.NoError(t, made.List(t.Context(), &nodes, shop))
	assert.Len(t, nodes.Items, 1, "which have their labels")

	name := func(client.Object) []string { return []string{"x"} }
	assert.ErrorContains(t, made.IndexField(t.Context(), &corev1.Pod{}, "spec.hostname", name), "the cache leaves spec.hostname out of Pod")
	assert.ErrorContains(t, made.IndexField(t.Context(), &corev1.Pod{}, ".metadata.labels", name), "the cache leaves metadata.labels out of Pod")
	require.NoError(t, made.IndexField(t.Context(), &corev1.Pod{}, "of the program's own", name))
	require.NoError(t, made.IndexField(t.Context(), &corev1.Pod{}, "spec.nodeName", func(obj client.Object) []string {
		return []string{obj.(*corev1.Pod).Spec.NodeName}
	}))
	var pods corev1.PodList
	require.NoError(t, made.List(t.Context(), &pods, client.MatchingFields{"spec.nodeName": "n-web-0"}))
	assert.Len(t, pods.Items, 1)
	without, ok := made.Cache.(manager.LeaderElectionRunnable)
	require.True(t, ok, "as that of controller-runtime")
	assert.False(t, without.NeedLeaderElection())
}
