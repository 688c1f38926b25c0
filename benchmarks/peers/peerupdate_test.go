package peers

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/benchmarks/internal/ring"
	"github.com/kubetyped/informer/index"
)

// BenchmarkPeerUpdate measures replacing one of 100,000 Pods in a store with two indexes by a
// newer version of it, with the same index keys, without a handler. An operation is one Pod. So
// many are written at once: in one call, or in one transaction. The benchmarks of statedb have
// transactions of 1, 10, 100 and 1,000 objects, and of 100 with a secondary index.
//
// It goes around two versions of a hundred Pods, and on from one run to the next:
// statedb does not take the object that it has.
func BenchmarkPeerUpdate(b *testing.B) {
	c := cluster.New(100_000, 100)
	pods := c.Pods(1)
	newer := c.Newer(100)
	store, table := typedStore(b, pods), filledTable(b, pods)
	defer table.close(b)
	forStore, forTable := ring.Of(newer), ring.Of(newer)
	for _, batch := range []int{1, 100} {
		b.Run(fmt.Sprintf("batch=%d/impl=typed", batch), func(b *testing.B) { updateTyped(b, store, forStore, batch) })
		b.Run(fmt.Sprintf("batch=%d/impl=statedb", batch), func(b *testing.B) { updateStateDB(b, table, forTable, batch) })
	}
}

func typedStore(tb testing.TB, pods []*corev1.Pod) *index.Indexer[*corev1.Pod] {
	store := index.NewIndexer[*corev1.Pod]()
	require.NoError(tb, store.AddIndexes(nodeIndex(), appIndex()))
	store.Replace(nil, pods, "1", index.Initial)
	return store
}

func filledTable(tb testing.TB, pods []*corev1.Pod) *podTable {
	table := newPodTable(tb)
	writePods(tb, table, pods)
	return table
}

// writePods writes all of pods in one transaction.
func writePods(tb testing.TB, table *podTable, pods []*corev1.Pod) {
	txn := table.WriteTxn(table)
	for _, pod := range pods {
		if _, _, err := table.Insert(txn, pod); err != nil {
			tb.Fatal(err)
		}
	}
	txn.Commit()
}

func updateTyped(b *testing.B, store *index.Indexer[*corev1.Pod], newer *ring.Ring[*corev1.Pod], batch int) {
	changes := make([]index.Change[*corev1.Pod], 0, batch)
	events := make([]index.Event[*corev1.Pod], 0, batch)
	b.ReportAllocs()
	for left := b.N; left > 0; left -= batch {
		changes = changes[:0]
		for range min(batch, left) {
			changes = append(changes, index.Change[*corev1.Pod]{Reason: index.Watched, Object: newer.Next()})
		}
		events = store.Apply(events[:0], changes, changes[len(changes)-1].Object.ResourceVersion)
	}
}

func updateStateDB(b *testing.B, table *podTable, newer *ring.Ring[*corev1.Pod], batch int) {
	b.ReportAllocs()
	for left := b.N; left > 0; left -= batch {
		txn := table.WriteTxn(table)
		for range min(batch, left) {
			if _, _, err := table.Insert(txn, newer.Next()); err != nil {
				b.Fatal(err)
			}
		}
		txn.Commit()
	}
}
