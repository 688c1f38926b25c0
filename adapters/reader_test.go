package adapters_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/lister"
	"github.com/kubetyped/informer/typed"
)

func readerPod(namespace, name, app string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, Labels: map[string]string{"app": app},
	}}
}

// Whatever index the indexer has, typed reads give what it has.
func TestReaderReadsTheIndexer(t *testing.T) {
	a, b, c := readerPod("one", "a", "web"), readerPod("two", "b", "db"), readerPod("", "c", "web")
	for name, indexers := range map[string]cache.Indexers{
		"with an index of namespaces": {cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		"without":                     {},
	} {
		t.Run(name, func(t *testing.T) {
			indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers)
			require.NoError(t, indexer.Replace([]any{a, b, c}, "7"))
			r := adapters.Reader[*corev1.Pod](indexer)
			all := []*corev1.Pod{a, b, c}

			for _, reader := range []index.Reader[*corev1.Pod]{r, r.Snapshot()} {
				got, ok := reader.Get(index.Key{Namespace: "one", Name: "a"})
				assert.True(t, ok)
				assert.Same(t, a, got)
				got, ok = reader.Get(index.Key{Name: "c"})
				assert.True(t, ok)
				assert.Same(t, c, got)
				got, ok = reader.Get(index.Key{Namespace: "one", Name: "b"})
				assert.False(t, ok)
				assert.Nil(t, got)

				assert.Equal(t, 3, reader.Len())
				assert.ElementsMatch(t, all, reader.List())
				assert.ElementsMatch(t, all, slices.Collect(reader.All()))
				assert.ElementsMatch(t, []index.Key{{Namespace: "one", Name: "a"}, {Namespace: "two", Name: "b"}, {Name: "c"}}, slices.Collect(reader.Keys()))
				assert.Equal(t, []*corev1.Pod{a}, reader.ListNamespace("one"))
				assert.Equal(t, []*corev1.Pod{b}, slices.Collect(reader.InNamespace("two")))
				assert.Equal(t, []*corev1.Pod{c}, reader.ListNamespace(""), "cluster-scoped")
				assert.True(t, reader.ListNamespace("three") == nil)
				assert.Len(t, slices.Collect(reader.Candidates("", nil)), 3)
				assert.Len(t, slices.Collect(reader.Candidates("two", labels.Everything())), 1)
				assert.Equal(t, "7", reader.ResourceVersion())
				for range reader.Keys() {
					break // leaves it at that
				}
			}

			s := r.Snapshot()
			require.NoError(t, indexer.Delete(a))
			assert.Equal(t, 3, s.Len(), "a snapshot stays as it is")
			assert.Equal(t, 2, r.Len())
		})
	}
}

func TestReaderServesListers(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	web, db := readerPod("one", "a", "web"), readerPod("one", "b", "db")
	require.NoError(t, indexer.Replace([]any{web, db}, "1"))
	pods := lister.New(adapters.Reader[*corev1.Pod](indexer))

	got, err := pods.Namespace("one").Get("b")
	require.NoError(t, err)
	assert.Same(t, db, got)
	_, err = pods.Namespace("one").Get("c")
	assert.True(t, apierrors.IsNotFound(err))
	for _, l := range []interface {
		List(labels.Selector) ([]*corev1.Pod, error)
	}{pods, pods.Namespace("one")} {
		found, err := l.List(labels.SelectorFromSet(labels.Set{"app": "web"}))
		require.NoError(t, err)
		assert.Equal(t, []*corev1.Pod{web}, found)
	}
}

func TestReaderReportsOtherTypes(t *testing.T) {
	failures := reported.since()
	node, pod := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, readerPod("", "p", "")
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	require.NoError(t, indexer.Replace([]any{node, pod}, "1"))
	r := adapters.Reader[*corev1.Pod](indexer)
	_, ok := r.Get(index.Key{Name: "n"})
	assert.False(t, ok)
	require.Len(t, failures(), 1)
	assert.EqualError(t, failures()[0], "typed view of an indexer, objects of type *v1.Pod: a *v1.Node was left out")
	assert.Equal(t, []*corev1.Pod{pod}, r.List())
	assert.Equal(t, 1, r.Len())
	assert.Equal(t, 1, r.Snapshot().Len())
}

// readerBroken is an indexer that fails to read.
type readerBroken struct{ cache.Indexer }

func (readerBroken) GetByKey(string) (any, bool, error)    { return nil, false, errors.New("no") }
func (readerBroken) ByIndex(string, string) ([]any, error) { return nil, errors.New("no") }
func (b readerBroken) GetIndexers() cache.Indexers         { return b.Indexer.GetIndexers() }

func TestReaderOfAnIndexerThatFails(t *testing.T) {
	failures := reported.since()
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	pod := readerPod("one", "a", "")
	require.NoError(t, indexer.Add(pod))
	r := adapters.Reader[*corev1.Pod](readerBroken{indexer})
	_, ok := r.Get(index.KeyOf(pod))
	assert.False(t, ok)
	assert.Equal(t, []*corev1.Pod{pod}, r.ListNamespace("one"), "it looks at all objects then")
	assert.Len(t, failures(), 2)
}

// There and back again gives what there was.
func TestReaderIsUnwrapped(t *testing.T) {
	x := index.NewIndexer[*corev1.Pod]()
	assert.Same(t, x, adapters.Reader[*corev1.Pod](adapters.Indexer(x)))
	pods := typed.NewInformer[*corev1.Pod](&syncedSource{})
	assert.Same(t, pods, adapters.Reader[*corev1.Pod](adapters.SharedIndexInformer(pods).GetIndexer()))
}

// TestReaderOfAnyObjects: a view of the metadata of an informer's objects has the objects
// themselves, however the informer stores them.
func TestReaderOfAnyObjects(t *testing.T) {
	for _, impl := range implementations {
		informer := impl.simple(&script{}, &corev1.Pod{}, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		web, odd := readerPod("one", "a", "web"), readerPod("", "b/c", "web") // whose key is that of c in b
		require.NoError(t, informer.GetStore().Replace([]any{web, odd}, "1"))
		r := adapters.Reader[metav1.Object](informer.GetIndexer())
		assert.ElementsMatch(t, []metav1.Object{web, odd}, r.List(), impl.name)
		assert.Equal(t, []metav1.Object{web}, slices.Collect(r.InNamespace("one")), impl.name)
		got, ok := r.Get(index.Key{Namespace: "b", Name: "c"})
		assert.True(t, ok)
		assert.Same(t, odd, got)
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(lw cache.ListerWatcher, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			return packedWithOptions(lw, &corev1.Pod{}, options)
		})
		r.script.lists("10", pod("a", "1"))
		r.run()
		for obj := range adapters.Reader[metav1.Object](r.GetIndexer()).All() {
			assert.IsType(t, &corev1.Pod{}, obj)
		}
	})
}

func TestReaderOfNothing(t *testing.T) {
	r := adapters.Reader[*corev1.Pod](nil)
	assert.True(t, r.List() == nil)
	assert.Zero(t, r.Snapshot().Len())
}

// Typed listers read from the indexer of an informer that is there already.
func ExampleReader() {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}) // informer.GetIndexer()
	if err := indexer.Add(readerPod("default", "web-0", "web")); err != nil {
		fmt.Println(err)
	}

	pods := lister.New(adapters.Reader[*corev1.Pod](indexer))
	pod, err := pods.Namespace("default").Get("web-0")
	fmt.Println(pod.Name, err)
	// Output: web-0 <nil>
}
