package adapters_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
)

func add(obj any) cache.Transaction {
	return cache.Transaction{Type: cache.TransactionTypeAdd, Object: obj}
}

func update(obj any) cache.Transaction {
	return cache.Transaction{Type: cache.TransactionTypeUpdate, Object: obj}
}

func remove(obj any) cache.Transaction {
	return cache.Transaction{Type: cache.TransactionTypeDelete, Object: obj}
}

func TestContractTransaction(t *testing.T) {
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	eachStore(t, indexers, func(t *testing.T, store cache.Indexer) {
		require.Implements(t, (*cache.TransactionStore)(nil), store)
		txns := store.(cache.TransactionStore)
		assert.Nil(t, txns.Transaction())
		assert.Empty(t, store.LastStoreSyncResourceVersion())

		assert.Nil(t, txns.Transaction(add(pod("a", "1")), add(pod("b", "2")), update(pod("c", "3")), update(pod("a", "4"))))
		assert.Equal(t, []string{"ns/a@4", "ns/b@2", "ns/c@3"}, describeAll(store.List()))
		assert.Equal(t, "4", store.LastStoreSyncResourceVersion(), "of the last")

		assert.Nil(t, txns.Transaction(
			remove(cache.ExplicitKey("ns/a")),
			remove(cache.DeletedFinalStateUnknown{Key: "ns/b"}),
			remove(pod("unknown", "5")),
			add(podIn("other", "d", "6")),
			remove(pod("c", "7")),
		))
		assert.Equal(t, []string{"other/d@6"}, describeAll(store.List()))
		assert.Equal(t, []string{"other"}, store.ListIndexFuncValues(cache.NamespaceIndex))
		assert.Equal(t, "7", store.LastStoreSyncResourceVersion())

		assert.Nil(t, txns.Transaction(add(pod("e", "8")), remove(cache.ExplicitKey("other/d"))))
		assert.Equal(t, []string{"ns/e@8"}, describeAll(store.List()))
		assert.Equal(t, "7", store.LastStoreSyncResourceVersion(), "the last has no version")

		assert.Nil(t, txns.Transaction(cache.Transaction{Type: "Other", Object: pod("e", "9")}))
		assert.Equal(t, []string{"ns/e@8"}, describeAll(store.List()), "an unknown type does nothing")
	})
}

// A transaction deletes by key an object that it has added before.
func TestContractTransactionOfAnObjectThatComesAndGoes(t *testing.T) {
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	eachStore(t, indexers, func(t *testing.T, store cache.Indexer) {
		for _, gone := range []any{cache.ExplicitKey("ns/a"), cache.DeletedFinalStateUnknown{Key: "ns/a"}} {
			assert.Nil(t, store.(cache.TransactionStore).Transaction(add(pod("a", "1")), remove(gone)))
			assert.Empty(t, store.List())
			assert.Empty(t, store.ListIndexFuncValues(cache.NamespaceIndex))
		}
	})
}

// A transaction applies the changes that have a key, and reports the others.
func TestContractTransactionFailsInPart(t *testing.T) {
	eachStore(t, nil, func(t *testing.T, store cache.Indexer) {
		err := store.(cache.TransactionStore).Transaction(add("bad"), add(pod("a", "1")), update(7), remove(pod("b", "2")), add(nil))
		require.NotNil(t, err)
		assert.Equal(t, []int{1, 3}, err.SuccessfulIndices)
		assert.Equal(t, 5, err.TotalTransactions)
		require.Len(t, err.Errors, 3)
		for i, obj := range []any{"bad", 7, nil} {
			var keyError cache.KeyError
			require.ErrorAs(t, err.Errors[i], &keyError)
			assert.Equal(t, obj, keyError.Obj)
		}
		assert.ErrorContains(t, err, "failed to execute (3/5) transactions failed due to: [couldn't create key for object bad: ")
		assert.Equal(t, []string{"ns/a@1"}, describeAll(store.List()))
		assert.Equal(t, "2", store.LastStoreSyncResourceVersion())

		err = store.(cache.TransactionStore).Transaction(add("bad"))
		require.NotNil(t, err)
		assert.Equal(t, []int{}, err.SuccessfulIndices)
		assert.Equal(t, 1, err.TotalTransactions)
		assert.Equal(t, []string{"ns/a@1"}, describeAll(store.List()))
	})
}
