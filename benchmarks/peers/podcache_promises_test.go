package peers

import (
	"reflect"
	"testing"

	"github.com/cilium/statedb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"istio.io/istio/pkg/kube/krt"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/index"
)

// The tests below show where the caches differ. If one fails for a peer, that
// does other than it did: then doc.go has to be changed.

// TestChangesAreMerged changes Pods several times between two reads of the changes of a table.
// TestPeersDeliverTheSame checks that every other side delivers each update.
func TestChangesAreMerged(t *testing.T) {
	c := cluster.New(2, 1)
	table := newPodTable(t)
	defer table.close(t)
	txn := table.WriteTxn(table)
	changes, err := table.Changes(txn)
	txn.Commit()
	require.NoError(t, err)
	defer changes.Close()

	for version := 1; version <= 3; version++ {
		writePods(t, table, []*corev1.Pod{c.Pod(0, version)})
	}
	writePods(t, table, []*corev1.Pod{c.Pod(1, 1)})
	txn = table.WriteTxn(table)
	_, _, err = table.RWTable.Delete(txn, c.Pod(1, 1))
	txn.Commit()
	require.NoError(t, err)

	some, _ := changes.Next(table.ReadTxn())
	var told []statedb.Change[*corev1.Pod]
	for change := range some {
		told = append(told, change)
	}
	require.Len(t, told, 2)
	assert.Equal(t, c.Pod(0, 3), told[0].Object, "the last of three versions")
	assert.False(t, told[0].Deleted)
	assert.Equal(t, c.Pod(1, 1).Name, told[1].Object.Name)
	assert.True(t, told[1].Deleted, "that it was created is not told")
}

// TestStateThatStays reads by key and by index in a state of the past.
func TestStateThatStays(t *testing.T) {
	c := cluster.New(20, 10)
	before, after := c.Pod(3, 1), c.Pod(3, 2)
	after.Labels["app"] = "another"
	app := before.Labels["app"]
	key := keysOf([]*corev1.Pod{before})[0]

	t.Run("typed", func(t *testing.T) {
		store, apps := index.NewIndexer[*corev1.Pod](), appIndex()
		require.NoError(t, store.AddIndexes(apps))
		store.Replace(nil, c.Pods(1), "1", index.Initial)
		past := store.Snapshot()
		store.Apply(nil, []index.Change[*corev1.Pod]{{Reason: index.Watched, Object: after}}, "2")
		pod, ok := past.Get(key.Key)
		require.True(t, ok)
		assert.Equal(t, before, pod)
		assert.Len(t, apps.In(past).Get(app), 10)
		assert.Len(t, apps.Get(app), 9)
	})
	t.Run("statedb", func(t *testing.T) {
		table := filledTable(t, c.Pods(1))
		defer table.close(t)
		past := table.ReadTxn()
		writePods(t, table, []*corev1.Pod{after})
		pod, _, ok := table.Get(past, podsByKey.Query(key.joined))
		require.True(t, ok)
		assert.Equal(t, before, pod)
		assert.Len(t, statedb.Collect(table.List(past, podsByApp.Query(app))), 10)
		assert.Len(t, table.byApp(app).pods, 9)
	})
}

// TestReturnedMaps looks at whether two reads return the same maps, and so one
// that the caller must not write to.
func TestReturnedMaps(t *testing.T) {
	pods := cluster.New(20, 10).Pods(1)
	key := keysOf(pods)[0]
	for _, test := range []struct {
		peer
		pods, labels bool   // are those of the cache
		kind         string // of an object, from a list without kinds
	}{
		{typedPeer, true, true, ""},
		{krtPeer, true, true, ""},
		{statedbPeer, true, true, ""},
		{controllerRuntimePeer, false, true, ""},
		{copiesPeer, false, false, "Pod"},
	} {
		t.Run(test.impl, func(t *testing.T) {
			started := test.start(t, newSource(pods))
			defer started.stop()
			first, ok := started.get(key)
			require.True(t, ok)
			second, ok := started.get(key)
			require.True(t, ok)
			assert.Equal(t, test.pods, first == second)
			assert.Equal(t, test.labels, reflect.ValueOf(first.Labels).Pointer() == reflect.ValueOf(second.Labels).Pointer())
			assert.Equal(t, test.kind, first.Kind)
		})
	}
}

// TestBatchesOfInformers registers a handler of batches with a collection that
// has its objects already.
func TestBatchesOfInformers(t *testing.T) {
	pods := cluster.New(20, 10).Pods(1)
	started := startKRT(t, newSource(pods)).(*krtCache)
	defer started.stop()
	batches, told := 0, 0
	registration := started.RegisterBatch(func(events []krt.Event[*corev1.Pod]) {
		batches++
		told += len(events)
	}, false)
	require.True(t, registration.WaitUntilSynced(t.Context().Done()))
	assert.Equal(t, len(pods), told, "in spite of runExistingState being false")
	assert.Equal(t, len(pods), batches, "one event each")
}
