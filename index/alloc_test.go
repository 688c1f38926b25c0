package index_test

import (
	"fmt"
	"net/netip"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

// TestAllocations limits the allocations of reads and writes. The store has several pages of
// objects, to catch copies of whole pages.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	node := byNode()
	ip := index.Single("ip", func(p *pod) (netip.Addr, bool) { return netip.AddrFrom4([4]byte{10, 0, 0, byte(p.version)}), true })
	store := newStore(t, []handle{node, ip})
	const n = 3000
	objs := make([]*pod, n)
	for i := range objs {
		objs[i] = &pod{namespace: "default", name: fmt.Sprint("p", i), node: fmt.Sprint("n", i%30), version: i % 100}
	}
	store.Apply(nil, put(objs...), "1")
	key, addr := index.KeyOf(objs[n/2]), netip.AddrFrom4([4]byte{10, 0, 0, 7})
	seen := 0

	updates := put(&pod{namespace: "default", name: "p1500", node: "n0"}, &pod{namespace: "default", name: "p1500", node: "n0"})
	events := make([]index.Event[*pod], 0, 8)
	turn := 0
	update := func() {
		turn++
		events = store.Apply(events[:0], updates[turn%2:turn%2+1], "2")
	}
	update()
	snapshot := store.Snapshot()
	for name, test := range map[string]struct {
		most float64
		do   func()
	}{
		"get":               {0, func() { store.Get(key) }},
		"get what is not":   {0, func() { store.Get(index.Key{Name: "absent"}) }},
		"len":               {0, func() { seen += store.Len() }},
		"version":           {0, func() { _ = store.ResourceVersion() }},
		"snapshot again":    {0, func() { store.Snapshot() }},
		"range over all":    {0, func() { each(&seen, store) }},
		"range over a key":  {0, func() { byKey(&seen, node, "n7") }},
		"index len":         {0, func() { seen += node.Len("n7") }},
		"index len of addr": {0, func() { seen += ip.Len(addr) }},
		"range over addr":   {0, func() { byKey(&seen, ip, addr) }},
		"list":              {1, func() { seen += len(store.List()) }},
		"index get":         {1, func() { seen += len(node.Get("n7")) }},
		"snapshot get":      {0, func() { snapshot.Get(key) }},
		"range over view":   {0, func() { viewByKey(&seen, node.In(snapshot), "n7") }},
	} {
		assert.LessOrEqual(t, testing.AllocsPerRun(50, test.do), test.most, name)
	}
	require.NotZero(t, seen)

	update() // a reader came by: what is written next is copied once
	for name, between := range map[string]func(){
		"update":           func() {},
		"update after get": func() { store.Get(key) },
		"update after len": func() { seen += store.Len() + node.Len("n0") },
	} {
		assert.Zero(t, testing.AllocsPerRun(100, func() { between(); update() }), name)
	}
	require.Len(t, events, 1)
	assert.Equal(t, index.Updated, events[0].Type)
	assert.NotSame(t, events[0].Old, events[0].New)
}

func each(seen *int, store *index.Indexer[*pod]) {
	for p := range store.All() {
		*seen += len(p.name)
	}
}

func byKey[K comparable](seen *int, x *index.Index[K, *pod], k K) {
	for p := range x.All(k) {
		*seen += len(p.name)
	}
}

func viewByKey[K comparable](seen *int, v index.View[K, *pod], k K) {
	for p := range v.All(k) {
		*seen += len(p.name)
	}
}

// TestAnUpdateAfterAViewCopiesOnePage shows the price of a view of 100,000
// objects: the next update copies one page of objects and the page table.
func TestAnUpdateAfterAViewCopiesOnePage(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	store := index.NewIndexer[*pod]()
	objs := make([]*pod, 100_000)
	for i := range objs {
		objs[i] = &pod{namespace: "default", name: fmt.Sprint("p", i)}
	}
	store.Apply(nil, put(objs...), "1")
	update := put(&pod{namespace: "default", name: "p50000"})
	events := store.Apply(nil, update, "2")

	var before, after runtime.MemStats
	const rounds = 100
	runtime.ReadMemStats(&before)
	for range rounds {
		for range store.All() {
			break
		}
		events = store.Apply(events[:0], update, "2")
	}
	runtime.ReadMemStats(&after)
	assert.LessOrEqual(t, (after.Mallocs-before.Mallocs)/rounds, uint64(3))
	assert.LessOrEqual(t, (after.TotalAlloc-before.TotalAlloc)/rounds, uint64(16<<10),
		"8 KiB of objects, 24 bytes for each of 98 pages and as many to spare")
}
