package adapters_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// listed is what the tests of listers look for.
func listed() []*corev1.Pod {
	red, blue, other, bare := pod("red", "1"), pod("blue", "2"), podIn("other", "red", "3"), podIn("", "bare", "4")
	red.Labels = map[string]string{"color": "red", "size": "1"}
	blue.Labels = map[string]string{"color": "blue"}
	other.Labels = map[string]string{"color": "red"}
	return []*corev1.Pod{red, blue, other, bare}
}

func TestContractGeneratedLister(t *testing.T) {
	eachStore(t, testIndexers(), func(t *testing.T, store cache.Indexer) { checkLister(t, store) })
}

// Without the index of namespaces listers look at all objects.
func TestContractGeneratedListerWithoutIndex(t *testing.T) {
	eachStore(t, nil, func(t *testing.T, store cache.Indexer) { checkLister(t, store) })
}

func checkLister(t *testing.T, store cache.Indexer) {
	lister := corev1listers.NewPodLister(store)
	none, err := lister.List(labels.Everything())
	require.NoError(t, err)
	assert.Empty(t, none)
	objs := listed()
	for _, p := range objs {
		require.NoError(t, store.Add(p))
	}
	tests := []struct {
		selector string
		all, ns  []string
	}{
		{"", []string{"bare@4", "ns/blue@2", "ns/red@1", "other/red@3"}, []string{"ns/blue@2", "ns/red@1"}},
		{"color=red", []string{"ns/red@1", "other/red@3"}, []string{"ns/red@1"}},
		{"color!=red", []string{"bare@4", "ns/blue@2"}, []string{"ns/blue@2"}},
		{"color in (red,blue),!size", []string{"ns/blue@2", "other/red@3"}, []string{"ns/blue@2"}},
		{"size", []string{"ns/red@1"}, []string{"ns/red@1"}},
		{"color=green", []string{}, []string{}},
	}
	for _, test := range tests {
		selector, err := labels.Parse(test.selector)
		require.NoError(t, err)
		all, err := lister.List(selector)
		require.NoError(t, err)
		assert.Equal(t, test.all, describeAll(all), test.selector)
		ns, err := lister.Pods("ns").List(selector)
		require.NoError(t, err)
		assert.Equal(t, test.ns, describeAll(ns), test.selector)
		every, err := lister.Pods(metav1.NamespaceAll).List(selector)
		require.NoError(t, err)
		assert.Equal(t, test.all, describeAll(every), "all namespaces: %s", test.selector)
	}
	nothing, err := lister.List(labels.Nothing())
	require.NoError(t, err)
	assert.Empty(t, nothing)
	unknown, err := lister.Pods("unknown").List(labels.Everything())
	require.NoError(t, err)
	assert.Empty(t, unknown)

	one, err := lister.Pods("ns").Get("red")
	require.NoError(t, err)
	assert.Same(t, objs[0], one)
	one, err = lister.Pods("").Get("bare")
	require.NoError(t, err)
	assert.Same(t, objs[3], one, "what has no namespace is in \"\"")
	for _, at := range [][2]string{{"ns", "unknown"}, {"unknown", "red"}, {"", "red"}} {
		got, err := lister.Pods(at[0]).Get(at[1])
		assert.True(t, apierrors.IsNotFound(err), "%v: %v", at, err)
		assert.EqualError(t, err, `pod "`+at[1]+`" not found`)
		assert.Nil(t, got)
	}
}

func TestContractGenericLister(t *testing.T) {
	eachStore(t, testIndexers(), func(t *testing.T, store cache.Indexer) {
		lister := cache.NewGenericLister(store, schema.GroupResource{Resource: "pods"})
		for _, p := range listed() {
			require.NoError(t, store.Add(p))
		}
		red := labels.SelectorFromSet(labels.Set{"color": "red"})
		all, err := lister.List(red)
		require.NoError(t, err)
		assert.Equal(t, []string{"ns/red@1", "other/red@3"}, describeAll(all))
		ns, err := lister.ByNamespace("ns").List(red)
		require.NoError(t, err)
		assert.Equal(t, []string{"ns/red@1"}, describeAll(ns))
		one, err := lister.ByNamespace("ns").Get("blue")
		require.NoError(t, err)
		assert.Equal(t, "ns/blue@2", describe(one))
		one, err = lister.Get("bare")
		require.NoError(t, err)
		assert.Equal(t, "bare@4", describe(one))
		_, err = lister.Get("nope")
		assert.EqualError(t, err, `pods "nope" not found`)
	})
}

func TestContractListAll(t *testing.T) {
	eachStore(t, testIndexers(), func(t *testing.T, store cache.Indexer) {
		for _, p := range listed() {
			require.NoError(t, store.Add(p))
		}
		var got []any
		collect := func(obj any) { got = append(got, obj) }
		require.NoError(t, cache.ListAll(store, labels.Everything(), collect))
		assert.Len(t, got, 4)
		got = nil
		require.NoError(t, cache.ListAllByNamespace(store, "other", labels.SelectorFromSet(labels.Set{"color": "red"}), collect))
		assert.Equal(t, []string{"other/red@3"}, describeAll(got))
		// The function may write to the store.
		require.NoError(t, cache.ListAllByNamespace(store, "ns", labels.Everything(), func(obj any) { assert.NoError(t, store.Delete(obj)) }))
		assert.Len(t, store.ListKeys(), 2)
	})
}
