package adapters_test

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// eachStore runs a test on the store of an informer that was not started, and
// on one of an informer that runs.
func eachStore(t *testing.T, indexers cache.Indexers, test func(t *testing.T, store cache.Indexer)) {
	t.Helper()
	copied := func() cache.Indexers {
		c := cache.Indexers{}
		for name, f := range indexers {
			c[name] = f
		}
		return c
	}
	t.Run("not started", func(t *testing.T) {
		eachInformer(t, func(t *testing.T, pods newPods) {
			test(t, newRigWith(t, pods, cache.SharedIndexInformerOptions{Indexers: copied()}).GetIndexer())
		})
	})
	t.Run("running", func(t *testing.T) {
		eachInformer(t, func(t *testing.T, pods newPods) {
			r := newRigWith(t, pods, cache.SharedIndexInformerOptions{Indexers: copied()})
			r.script.lists("")
			r.run()
			test(t, r.GetIndexer())
		})
	})
}

func TestContractStoreWrites(t *testing.T) {
	eachStore(t, nil, func(t *testing.T, store cache.Indexer) {
		first, second := pod("a", "1"), pod("a", "2")
		require.NoError(t, store.Add(first))
		got, exists, err := store.GetByKey("ns/a")
		require.NoError(t, err)
		assert.True(t, exists)
		assert.Same(t, first, got, "objects are not copied")

		require.NoError(t, store.Add(second), "an add of a known object replaces it")
		got, _, _ = store.Get(first)
		assert.Same(t, second, got)
		require.NoError(t, store.Update(first), "an update may go back")
		got, _, _ = store.Get(second)
		assert.Same(t, first, got)
		require.NoError(t, store.Update(pod("b", "3")), "an update of an unknown object adds it")
		assert.Equal(t, []string{"ns/a", "ns/b"}, sorted(store.ListKeys()))

		require.NoError(t, store.Delete(pod("a", "9")), "the key matters")
		require.NoError(t, store.Delete(pod("a", "9")), "again")
		got, exists, err = store.GetByKey("ns/a")
		assert.Nil(t, got)
		assert.False(t, exists)
		assert.NoError(t, err)
		got, exists, err = store.Get(first)
		assert.Nil(t, got)
		assert.False(t, exists)
		assert.NoError(t, err)
		assert.Equal(t, []string{"ns/b"}, store.ListKeys())
	})
}

func TestContractStoreDeletesByKey(t *testing.T) {
	eachStore(t, nil, func(t *testing.T, store cache.Indexer) {
		for _, what := range []any{
			cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: pod("other", "1")},
			cache.DeletedFinalStateUnknown{Key: "ns/a"},
			cache.ExplicitKey("ns/a"),
			&metav1.ObjectMeta{Namespace: "ns", Name: "a"},
			&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}},
		} {
			require.NoError(t, store.Add(pod("a", "1")))
			got, exists, err := store.Get(what)
			require.NoError(t, err)
			assert.True(t, exists)
			assert.Equal(t, "ns/a@1", describe(got))
			require.NoError(t, store.Delete(what))
			assert.Empty(t, store.List())
		}
	})
}

func TestContractStoreReplace(t *testing.T) {
	eachStore(t, nil, func(t *testing.T, store cache.Indexer) {
		require.NoError(t, store.Add(pod("gone", "1")))
		require.NoError(t, store.Replace([]any{pod("a", "2"), pod("b", "3"), pod("a", "4")}, "5"))
		assert.Equal(t, []string{"ns/a@4", "ns/b@3"}, describeAll(store.List()), "of two with one key the last stays")
		require.NoError(t, store.Replace(nil, "6"))
		assert.Empty(t, store.List())
		assert.NotNil(t, store.List())
		require.NoError(t, store.Resync())
	})
}

// Lists are never nil, and the caller's.
func TestContractStoreLists(t *testing.T) {
	eachStore(t, nil, func(t *testing.T, store cache.Indexer) {
		assert.NotNil(t, store.List())
		assert.NotNil(t, store.ListKeys())
		assert.Empty(t, store.List())
		require.NoError(t, store.Add(pod("a", "1")))
		require.NoError(t, store.Add(pod("b", "2")))
		objs, keys := store.List(), store.ListKeys()
		objs[0], objs[1] = nil, nil
		keys[0], keys[1] = "", ""
		_ = append(objs, pod("c", "3"))
		assert.Equal(t, []string{"ns/a@1", "ns/b@2"}, describeAll(store.List()))
		assert.Equal(t, []string{"ns/a", "ns/b"}, sorted(store.ListKeys()))
		require.NoError(t, store.Add(pod("d", "4")))
		require.NoError(t, store.Delete(pod("a", "")))
		assert.Len(t, objs, 2, "a list does not change")
	})
}

func TestContractStoreKeys(t *testing.T) {
	tests := []struct {
		namespace, name, key string
	}{
		{"ns", "a", "ns/a"},
		{"", "node", "node"},
		{"ns", "", "ns/"},
		{"", "", ""},
		{"ns", "a/b", "ns/a/b"},
		{"", "/a", "/a"},
		{"ns", "/", "ns//"},
		{"n s", "ü:*", "n s/ü:*"},
	}
	for _, test := range tests {
		t.Run(test.key, func(t *testing.T) {
			eachStore(t, nil, func(t *testing.T, store cache.Indexer) {
				obj := podIn(test.namespace, test.name, "1")
				require.NoError(t, store.Add(obj))
				assert.Equal(t, []string{test.key}, store.ListKeys())
				got, exists, err := store.GetByKey(test.key)
				require.NoError(t, err)
				assert.True(t, exists)
				assert.Same(t, obj, got)
				got, exists, err = store.Get(cache.ExplicitKey(test.key))
				require.NoError(t, err)
				assert.True(t, exists)
				assert.Same(t, obj, got)
				_, exists, err = store.GetByKey(test.key + "/")
				require.NoError(t, err)
				assert.False(t, exists)
				require.NoError(t, store.Delete(cache.DeletedFinalStateUnknown{Key: test.key}))
				assert.Empty(t, store.ListKeys())
			})
		})
	}
}

// Keys are strings: what makes the same string is the same object.
func TestContractStoreKeysThatMeet(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl implementation) {
		store := impl.simple(&script{}, &corev1.Pod{}, 0, cache.Indexers{}).GetIndexer()
		require.NoError(t, store.Add(podIn("a", "b", "1")))
		require.NoError(t, store.Add(podIn("", "a/b", "2")))
		assert.Equal(t, []string{"a/b@2"}, describeAll(store.List()))
		require.NoError(t, store.Add(podIn("a", "b/c", "3")))
		require.NoError(t, store.Add(podIn("a/b", "c", "4")))
		assert.Equal(t, []string{"a/b", "a/b/c"}, sorted(store.ListKeys()))
		require.NoError(t, store.Delete(podIn("", "a/b/c", "")))
		assert.Equal(t, []string{"a/b"}, store.ListKeys())
		_, exists, err := store.Get(podIn("a", "b", ""))
		require.NoError(t, err)
		assert.True(t, exists)
	})
}

// The store itself does not ask for a type, only for a key.
func TestContractStoreOfAnything(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl implementation) {
		store := impl.simple(&script{}, &corev1.Pod{}, 0, cache.Indexers{}).GetIndexer()
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s", ResourceVersion: "1"}}
		meta := &metav1.ObjectMeta{Namespace: "ns", Name: "m", ResourceVersion: "2"}
		gone := cache.DeletedFinalStateUnknown{Key: "ns/gone"}
		for _, obj := range []any{service, meta, pod("a", "3"), cache.ExplicitKey("ns/explicit"), gone} {
			require.NoError(t, store.Add(obj))
		}
		assert.Equal(t, []string{"ns/a", "ns/explicit", "ns/gone", "ns/m", "ns/s"}, sorted(store.ListKeys()))
		for key, want := range map[string]any{"ns/s": service, "ns/m": meta, "ns/explicit": cache.ExplicitKey("ns/explicit"), "ns/gone": gone} {
			got, exists, err := store.GetByKey(key)
			require.NoError(t, err)
			assert.True(t, exists)
			assert.Equal(t, want, got)
		}
	})
}

func TestContractStoreKeyErrors(t *testing.T) {
	eachStore(t, nil, func(t *testing.T, store cache.Indexer) {
		require.NoError(t, store.Add(pod("a", "1")))
		for _, obj := range []any{nil, "ns/a", 7, corev1.Pod{}, struct{}{}, &corev1.PodList{}} {
			_, _, get := store.Get(obj)
			for _, err := range []error{store.Add(obj), store.Update(obj), store.Delete(obj), get, store.Replace([]any{pod("b", "2"), obj}, "3")} {
				var keyError cache.KeyError
				if !assert.ErrorAs(t, err, &keyError) {
					continue
				}
				assert.Equal(t, obj, keyError.Obj)
				assert.EqualError(t, errors.Unwrap(keyError), "object has no meta: object does not implement the Object interfaces")
				assert.Equal(t, fmt.Sprintf("couldn't create key for object %+v: object has no meta: object does not implement the Object interfaces", obj), err.Error())
			}
		}
		assert.Equal(t, []string{"ns/a@1"}, describeAll(store.List()), "nothing has changed")
		assert.Equal(t, "1", store.LastStoreSyncResourceVersion())
	})
}

func TestContractStoreConcurrently(t *testing.T) {
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	eachStore(t, indexers, func(t *testing.T, store cache.Indexer) {
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for i := range 200 {
					name := fmt.Sprintf("%d-%d", w, i)
					assert.NoError(t, store.Add(pod(name, strconv.Itoa(i))))
					got, exists, err := store.GetByKey("ns/" + name)
					assert.NoError(t, err)
					assert.True(t, exists)
					assert.NotNil(t, got)
					if i%2 == 0 {
						assert.NoError(t, store.Delete(cache.ExplicitKey("ns/"+name)))
					}
				}
			})
			wg.Go(func() {
				for range 50 {
					found, err := store.ByIndex(cache.NamespaceIndex, "ns")
					assert.NoError(t, err)
					for _, obj := range found {
						assert.NotNil(t, obj, "index and objects agree")
					}
					assert.LessOrEqual(t, len(store.List()), 4*200)
				}
			})
		}
		wg.Wait()
		assert.Len(t, store.ListKeys(), 4*100)
	})
}
