package ctrlruntime_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/typed/kube"
)

// TestWithPackedReads: Get and List of a cache that keeps bytes return the objects and errors of
// controller-runtime's cache, by all options. The objects are the reader's own.
func TestWithPackedReads(t *testing.T) {
	t.Parallel()
	srv := startWithWidgets(t)
	write(t, srv)
	byNode := func(obj client.Object) []string { return []string{obj.(*corev1.Pod).Spec.NodeName} }
	start := func(newCache cache.NewCacheFunc) *watched {
		w := startCache(t, newCache, srv.Config(), cache.Options{})
		require.NoError(t, w.IndexField(t.Context(), &corev1.Pod{}, "spec.nodeName", byNode))
		return w
	}
	ours := start(ctrlruntime.NewCache(ctrlruntime.WithPacked(&corev1.Pod{}, &corev1.Node{}, unstructuredOf(widgetKind))))
	theirs := start(cache.New)
	for name, opts := range map[string][]client.ListOption{
		"all":              nil,
		"namespace":        {client.InNamespace("one")},
		"labels":           {client.MatchingLabels{"app": "shop"}},
		"no such labels":   {client.MatchingLabels{"app": "none"}, client.InNamespace("one")},
		"other labels":     {client.MatchingLabelsSelector{Selector: notShop(t)}},
		"field":            {client.MatchingFields{"spec.nodeName": "n-web-0"}},
		"field, namespace": {client.MatchingFields{"spec.nodeName": "n-web-0"}, client.InNamespace("two")},
		"no copies":        {client.UnsafeDisableDeepCopy},
	} {
		var got, want corev1.PodList
		require.NoError(t, ours.List(t.Context(), &got, opts...))
		require.NoError(t, theirs.List(t.Context(), &want, opts...))
		assert.ElementsMatch(t, want.Items, got.Items, name)
		assert.Equal(t, want.Continue, got.Continue)
	}
	var got, want corev1.PodList
	require.NoError(t, ours.List(t.Context(), &got, client.Limit(2)))
	assert.Len(t, got.Items, 2)
	for name, opts := range map[string][]client.ListOption{
		"continued":  {client.Continue("x")},
		"no index":   {client.MatchingFields{"spec.hostname": "x"}},
		"not equal":  {client.MatchingFieldsSelector{Selector: fields.OneTermNotEqualSelector("spec.nodeName", "x")}},
		"two fields": {client.MatchingFieldsSelector{Selector: fields.AndSelectors(fields.OneTermEqualSelector("spec.nodeName", "n-web-0"), fields.OneTermEqualSelector("x", "y"))}},
	} {
		err := theirs.List(t.Context(), &want, opts...)
		require.Error(t, err, name)
		assert.EqualError(t, ours.List(t.Context(), &got, opts...), err.Error(), name)
	}

	key := client.ObjectKey{Namespace: "one", Name: "web-0"}
	for range 2 {
		var pod corev1.Pod
		require.NoError(t, ours.Get(t.Context(), key, &pod))
		assert.Equal(t, "shop:1", pod.Spec.Containers[0].Image)
		pod.Spec.Containers[0].Image = "mine:1"
	}
	var one, other corev1.Pod
	require.NoError(t, ours.Get(t.Context(), key, &one, client.UnsafeDisableDeepCopy))
	require.NoError(t, ours.Get(t.Context(), key, &other, client.UnsafeDisableDeepCopy))
	assert.NotSame(t, &one.Spec.Containers[0], &other.Spec.Containers[0], "each is decoded")
	var node corev1.Node
	require.NoError(t, ours.Get(t.Context(), client.ObjectKey{Namespace: "ignored", Name: "web-0"}, &node))
	assert.Equal(t, "Node", node.Kind)
	wantErr := theirs.Get(t.Context(), client.ObjectKey{Namespace: "one", Name: "missing"}, &corev1.Pod{})
	require.True(t, apierrors.IsNotFound(wantErr))
	assert.Equal(t, wantErr, ours.Get(t.Context(), client.ObjectKey{Namespace: "one", Name: "missing"}, &corev1.Pod{}))
}

// TestWithPackedOfNamespaces: reads outside of the namespaces of a cache are the errors of
// controller-runtime's, and not empty.
func TestWithPackedOfNamespaces(t *testing.T) {
	t.Parallel()
	srv := startWithWidgets(t)
	write(t, srv)
	for name, options := range map[string]cache.Options{
		"one namespace":       {DefaultNamespaces: map[string]cache.Config{"one": {}}},
		"two namespaces":      {DefaultNamespaces: map[string]cache.Config{"one": {}, "three": {}}},
		"one of a kind":       {ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {Namespaces: map[string]cache.Config{"one": {}}}}},
		"all of a kind alone": {DefaultNamespaces: map[string]cache.Config{"one": {}}, ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {Namespaces: map[string]cache.Config{cache.AllNamespaces: {}}}}},
	} {
		ours := startCache(t, ctrlruntime.NewCache(ctrlruntime.WithPacked()), srv.Config(), options)
		theirs := startCache(t, cache.New, srv.Config(), options)
		for _, namespace := range []string{"", "one", "two"} {
			var got, want corev1.PodList
			wantErr := theirs.List(t.Context(), &want, client.InNamespace(namespace))
			assert.Equal(t, wantErr, ours.List(t.Context(), &got, client.InNamespace(namespace)), "%s: %s", name, namespace)
			assert.ElementsMatch(t, want.Items, got.Items, "%s: %s", name, namespace)
			key := client.ObjectKey{Namespace: namespace, Name: "web-0"}
			assert.Equal(t, theirs.Get(t.Context(), key, &corev1.Pod{}), ours.Get(t.Context(), key, &corev1.Pod{}), "%s: %s", name, namespace)
		}
		var got, want corev1.NodeList
		require.NoError(t, theirs.List(t.Context(), &want))
		require.NoError(t, ours.List(t.Context(), &got))
		assert.ElementsMatch(t, want.Items, got.Items, name)
	}
}

func notShop(t *testing.T) labels.Selector {
	selector, err := labels.Parse("app!=shop")
	require.NoError(t, err)
	return selector
}

// TestWithPackedExcludes: NewCache returns an error that names both options that exclude each other.
func TestWithPackedExcludes(t *testing.T) {
	srv := startWithWidgets(t)
	same := func(obj any) (any, error) { return obj, nil }
	pods := ctrlruntime.WithPacked(&corev1.Pod{})
	for i, test := range []struct {
		want    string
		options cache.Options
		opts    []ctrlruntime.CacheOption
	}{
		{"WithPacked and DefaultTransform", cache.Options{DefaultTransform: same}, []ctrlruntime.CacheOption{pods}},
		{"WithPacked and DefaultTransform", cache.Options{DefaultTransform: same}, []ctrlruntime.CacheOption{ctrlruntime.WithPacked()}},
		{"a transform of *v1.Pod in ByObject", cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {Transform: same}}}, []ctrlruntime.CacheOption{pods}},
		{"WithPacked and DefaultTransform", cache.Options{DefaultNamespaces: map[string]cache.Config{"one": {Transform: same}}}, []ctrlruntime.CacheOption{pods}},
		{"", cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Node{}: {Transform: same}}}, []ctrlruntime.CacheOption{pods}},
		{"WithPacked and ForKind of *v1.Pod", cache.Options{}, []ctrlruntime.CacheOption{pods, ctrlruntime.ForKind(&corev1.Pod{}, kube.WithFields("metadata"))}},
		{"", cache.Options{}, []ctrlruntime.CacheOption{pods, ctrlruntime.ForKind(unstructuredOf(podKind), kube.WithFields("metadata"))}},
		{"WithPacked and Typed of *v1.Pod", cache.Options{}, []ctrlruntime.CacheOption{ctrlruntime.Typed[*corev1.Pod](), pods}},
		{"the kind is one of WithPacked, too", cache.Options{}, []ctrlruntime.CacheOption{ctrlruntime.WithPacked(&corev1.Secret{}), ctrlruntime.WithReferences[*corev1.Secret]()}},
		{"", cache.Options{}, []ctrlruntime.CacheOption{ctrlruntime.WithPacked(), ctrlruntime.WithReferences[*corev1.Secret]()}},
		{"WithPacked of all kinds and ForAllKinds", cache.Options{}, []ctrlruntime.CacheOption{ctrlruntime.WithPacked(), ctrlruntime.ForAllKinds(kube.WithoutFields("metadata.managedFields"))}},
		{"", cache.Options{}, []ctrlruntime.CacheOption{pods, ctrlruntime.ForAllKinds(kube.WithoutFields("metadata.managedFields"))}},
		{"WithPacked: the example is nil", cache.Options{}, []ctrlruntime.CacheOption{ctrlruntime.WithPacked(nil)}},
	} {
		test.options.Scheme = withWidgets
		_, err := ctrlruntime.NewCache(test.opts...)(srv.Config(), test.options)
		if test.want == "" {
			assert.NoError(t, err, fmt.Sprint(i))
		} else {
			assert.ErrorContains(t, err, test.want, fmt.Sprint(i))
		}
	}
}
