package adapters_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// byLetter indexes by each letter of the name, some of them twice.
func byLetter(obj any) ([]string, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	return strings.Split(m.GetName(), ""), nil
}

func testIndexers() cache.Indexers {
	return cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc, "letter": byLetter}
}

func TestContractByIndex(t *testing.T) {
	eachStore(t, testIndexers(), func(t *testing.T, store cache.Indexer) {
		byIndex := func(name, value string) []string {
			t.Helper()
			found, err := store.ByIndex(name, value)
			require.NoError(t, err)
			require.NotNil(t, found)
			keys, err := store.IndexKeys(name, value)
			require.NoError(t, err)
			require.NotNil(t, keys)
			assert.Len(t, keys, len(found))
			assert.IsIncreasing(t, append([]string{""}, keys...), "keys are sorted")
			return describeAll(found)
		}
		assert.Empty(t, byIndex("letter", "a"))
		for _, obj := range []any{pod("abba", "1"), pod("bc", "2"), podIn("other", "c", "3"), podIn("", "z", "4")} {
			require.NoError(t, store.Add(obj))
		}
		assert.Equal(t, []string{"ns/abba@1"}, byIndex("letter", "a"), "once, though it is there twice")
		assert.Equal(t, []string{"ns/abba@1", "ns/bc@2"}, byIndex("letter", "b"))
		assert.Equal(t, []string{"ns/bc@2", "other/c@3"}, byIndex("letter", "c"))
		assert.Equal(t, []string{"z@4"}, byIndex(cache.NamespaceIndex, ""))
		assert.Empty(t, byIndex("letter", "x"))
		assert.Equal(t, []string{"a", "b", "c", "z"}, sorted(store.ListIndexFuncValues("letter")))

		require.NoError(t, store.Update(pod("abba", "5")))
		require.NoError(t, store.Delete(pod("bc", "")))
		assert.Equal(t, []string{"ns/abba@5"}, byIndex("letter", "b"))
		assert.Equal(t, []string{"other/c@3"}, byIndex("letter", "c"))
		require.NoError(t, store.Delete(podIn("other", "c", "")))
		assert.Empty(t, byIndex("letter", "c"))
		assert.Equal(t, []string{"a", "b", "z"}, sorted(store.ListIndexFuncValues("letter")), "values without objects are gone")
		assert.Equal(t, []string{"", "ns"}, sorted(store.ListIndexFuncValues(cache.NamespaceIndex)))

		require.NoError(t, store.Replace([]any{pod("q", "6")}, "6"))
		assert.Empty(t, byIndex("letter", "a"))
		assert.Equal(t, []string{"q"}, store.ListIndexFuncValues("letter"))
		require.NoError(t, store.Replace(nil, "7"))
		assert.Empty(t, byIndex("letter", "q"))
		assert.Empty(t, store.ListIndexFuncValues("letter"))
		assert.NotNil(t, store.ListIndexFuncValues("letter"))
	})
}

// The values of an object may change between its versions.
func TestContractIndexFollowsUpdates(t *testing.T) {
	indexers := cache.Indexers{"label": func(obj any) ([]string, error) {
		m, err := meta.Accessor(obj)
		if err != nil {
			return nil, err
		}
		var values []string
		for name := range m.GetLabels() {
			values = append(values, name)
		}
		return values, nil
	}}
	eachStore(t, indexers, func(t *testing.T, store cache.Indexer) {
		for _, labels := range [][]string{{"a"}, {"a", "b"}, {"b", "c"}, {}, {"c"}, {"d"}} {
			p := pod("p", "1")
			p.Labels = map[string]string{}
			for _, l := range labels {
				p.Labels[l] = ""
			}
			require.NoError(t, store.Update(p))
			assert.ElementsMatch(t, labels, store.ListIndexFuncValues("label"))
			for _, l := range labels {
				found, err := store.ByIndex("label", l)
				require.NoError(t, err)
				require.Len(t, found, 1)
				assert.Same(t, p, found[0], "the newest")
			}
		}
	})
}

// Index takes any object that the index function understands.
func TestContractIndex(t *testing.T) {
	eachStore(t, testIndexers(), func(t *testing.T, store cache.Indexer) {
		index := func(name string, obj any) []string {
			t.Helper()
			found, err := store.Index(name, obj)
			require.NoError(t, err)
			require.NotNil(t, found)
			return describeAll(found)
		}
		for _, obj := range []any{pod("ab", "1"), pod("bc", "2"), podIn("other", "d", "3")} {
			require.NoError(t, store.Add(obj))
		}
		assert.Equal(t, []string{"ns/ab@1", "ns/bc@2"}, index(cache.NamespaceIndex, &metav1.ObjectMeta{Namespace: "ns"}))
		assert.Equal(t, []string{"ns/ab@1", "ns/bc@2"}, index(cache.NamespaceIndex, pod("unknown", "")))
		assert.Empty(t, index(cache.NamespaceIndex, &metav1.ObjectMeta{}))
		assert.Equal(t, []string{"ns/ab@1", "ns/bc@2", "other/d@3"}, index("letter", &metav1.ObjectMeta{Name: "dbbac"}), "of all values, each once")
		assert.Equal(t, []string{"ns/ab@1"}, index("letter", &metav1.ObjectMeta{Name: "aa"}))
		assert.Empty(t, index("letter", &metav1.ObjectMeta{}), "no values")
		assert.Empty(t, index("letter", &metav1.ObjectMeta{Name: "x"}))

		found, err := store.Index("letter", "no object")
		assert.EqualError(t, err, "object does not implement the Object interfaces", "as the function has it")
		assert.Nil(t, found)
	})
}

// What look-ups return is the caller's.
func TestContractIndexResultsAreOwned(t *testing.T) {
	eachStore(t, testIndexers(), func(t *testing.T, store cache.Indexer) {
		require.NoError(t, store.Add(pod("a", "1")))
		require.NoError(t, store.Add(pod("ab", "2")))
		for range 2 {
			found, err := store.ByIndex("letter", "a")
			require.NoError(t, err)
			assert.Equal(t, []string{"ns/a@1", "ns/ab@2"}, describeAll(found))
			clear(found)
			found, err = store.Index("letter", pod("a", ""))
			require.NoError(t, err)
			assert.Equal(t, []string{"ns/a@1", "ns/ab@2"}, describeAll(found))
			clear(found)
			keys, err := store.IndexKeys("letter", "a")
			require.NoError(t, err)
			assert.Equal(t, []string{"ns/a", "ns/ab"}, keys)
			clear(keys)
			values := store.ListIndexFuncValues("letter")
			assert.ElementsMatch(t, []string{"a", "b"}, values)
			clear(values)
		}
	})
}

func TestContractUnknownIndex(t *testing.T) {
	eachStore(t, testIndexers(), func(t *testing.T, store cache.Indexer) {
		const text = "Index with name nope does not exist"
		objs, err := store.Index("nope", pod("a", ""))
		assert.EqualError(t, err, text)
		assert.Nil(t, objs)
		objs, err = store.ByIndex("nope", "a")
		assert.EqualError(t, err, text)
		assert.Nil(t, objs)
		keys, err := store.IndexKeys("nope", "a")
		assert.EqualError(t, err, text)
		assert.Nil(t, keys)
		values := store.ListIndexFuncValues("nope")
		assert.Empty(t, values)
		assert.NotNil(t, values, "and no error")
	})
}

func TestContractAddIndexers(t *testing.T) {
	eachStore(t, testIndexers(), func(t *testing.T, store cache.Indexer) {
		require.NoError(t, store.Add(pod("a", "1")))
		var calls []string
		first := func(obj any) ([]string, error) {
			calls = append(calls, describe(obj))
			return []string{"f:" + describe(obj)}, nil
		}
		require.NoError(t, store.AddIndexers(cache.Indexers{"first": first, "second": byLetter}))
		assert.Equal(t, []string{"ns/a@1"}, calls, "what is there is indexed")
		keys, err := store.IndexKeys("first", "f:ns/a@1")
		require.NoError(t, err)
		assert.Equal(t, []string{"ns/a"}, keys)
		require.NoError(t, store.Add(pod("b", "2")))
		keys, err = store.IndexKeys("second", "b")
		require.NoError(t, err)
		assert.Equal(t, []string{"ns/b"}, keys)

		names := func() []string {
			var names []string
			for name, f := range store.GetIndexers() {
				assert.NotNil(t, f)
				names = append(names, name)
			}
			return sorted(names)
		}
		assert.Equal(t, []string{"first", "letter", "namespace", "second"}, names())
		assert.EqualError(t, store.AddIndexers(cache.Indexers{"letter": byLetter, "third": byLetter}), "indexer conflict: map[letter:{}]")
		assert.EqualError(t, store.AddIndexers(cache.Indexers{"letter": byLetter, "first": first}), "indexer conflict: map[first:{} letter:{}]")
		assert.Equal(t, []string{"first", "letter", "namespace", "second"}, names(), "all or none")
		require.NoError(t, store.AddIndexers(cache.Indexers{}))
		require.NoError(t, store.AddIndexers(nil))
		values, err := store.GetIndexers()["letter"](pod("xyz", ""))
		require.NoError(t, err)
		assert.Equal(t, []string{"x", "y", "z"}, values, "the functions are as given")
	})
}

// The informer's own AddIndexers is the store's, until the stop.
func TestContractInformerAddIndexers(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		r.script.lists("10", pod("a", "1"))
		require.NoError(t, r.AddIndexers(cache.Indexers{"before": byLetter}))
		r.run()
		require.NoError(t, r.AddIndexers(cache.Indexers{"while": byLetter}))
		assert.EqualError(t, r.AddIndexers(cache.Indexers{"before": byLetter}), "indexer conflict: map[before:{}]")
		for _, name := range []string{"before", "while"} {
			found, err := r.GetIndexer().ByIndex(name, "a")
			require.NoError(t, err)
			assert.Len(t, found, 1)
		}
		r.halt()
		assert.ErrorContains(t, r.AddIndexers(cache.Indexers{"after": byLetter}), "stopped")
		assert.NotContains(t, r.GetIndexer().GetIndexers(), "after")
		require.NoError(t, r.GetIndexer().AddIndexers(cache.Indexers{"after": byLetter}), "the store has not stopped")
		found, err := r.GetIndexer().ByIndex("after", "a")
		require.NoError(t, err)
		assert.Len(t, found, 1)
	})
}

// A function that fails on an object that is written panics. The object is
// there, and the store can be used.
func TestContractIndexFunctionFails(t *testing.T) {
	indexers := cache.Indexers{"picky": func(obj any) ([]string, error) {
		switch m, _ := meta.Accessor(obj); m.GetName() {
		case "bad":
			return nil, errors.New("bad object")
		case "worse":
			panic("worse object")
		default:
			return []string{"good"}, nil
		}
	}}
	eachStore(t, indexers, func(t *testing.T, store cache.Indexer) {
		const text = `unable to calculate an index entry for key "ns/bad" on index "picky": bad object`
		assert.PanicsWithError(t, text, func() { _ = store.Add(pod("bad", "1")) })
		assert.PanicsWithValue(t, "worse object", func() { _ = store.Add(pod("worse", "2")) })
		assert.Equal(t, []string{"ns/bad@1", "ns/worse@2"}, describeAll(store.List()))
		require.NoError(t, store.Add(pod("a", "3")))
		keys, err := store.IndexKeys("picky", "good")
		require.NoError(t, err)
		assert.Equal(t, []string{"ns/a"}, keys)
		_, err = store.Index("picky", pod("bad", ""))
		assert.EqualError(t, err, "bad object", "look-ups return the error")
		assert.Panics(t, func() { _, _ = store.Index("picky", pod("worse", "")) })
		require.NoError(t, store.Replace([]any{pod("b", "4")}, "5"))
		assert.PanicsWithError(t, text, func() { _ = store.Replace([]any{pod("bad", "1")}, "6") })
		require.NoError(t, store.Replace([]any{pod("c", "7")}, "8"))
		keys, err = store.IndexKeys("picky", "good")
		require.NoError(t, err)
		assert.Equal(t, []string{"ns/c"}, keys)
		assert.PanicsWithError(t, `unable to calculate an index entry for key "ns/c" on index "new": never`, func() {
			_ = store.AddIndexers(cache.Indexers{"new": func(any) ([]string, error) { return nil, errors.New("never") }})
		})
		assert.Equal(t, []string{"ns/c@7"}, describeAll(store.List()))
	})
}
