package index_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

// TestAllocationsOfWrites holds writes to what docs/explanation/design.md says that they allocate:
// what is new is copied or made, the name of an object, a key of an index, and a list
// for the second object of a key; nothing else is, for one change or for as many as
// are made in place.
func TestAllocationsOfWrites(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	node := byNode() // by a function of index.Single
	store := newStore(t, []handle{node})
	var objs []*pod
	for i := range 3000 {
		objs = append(objs, &pod{namespace: "default", name: fmt.Sprint("p", i), node: fmt.Sprint("n", i%30)})
	}
	pair := &pod{namespace: "default", name: "one of a pair", node: "of a pair"}
	store.Apply(nil, put(append(objs, pair)...), "1")

	known, moved := &pod{namespace: "default", name: "p7", node: "n7"}, &pod{namespace: "default", name: "p7", node: "n8"}
	added := &pod{namespace: "default", name: "new", node: "n3"}
	second := &pod{namespace: "default", name: "new", node: "of a pair"}
	alone := &pod{namespace: "default", name: "new", node: "alone"}
	gone := remove(added)
	key := index.KeyOf(added)
	gone[0].Key = &key
	for name, test := range map[string]struct {
		allocs float64
		writes [][]index.Change[*pod]
	}{
		"updates":                             {0, [][]index.Change[*pod]{put(objs[:256]...)}},
		"update under another key":            {0, [][]index.Change[*pod]{put(moved), put(known)}},
		"several updates under others":        {0, [][]index.Change[*pod]{put(moved, known, moved, known)}},
		"deletion and addition":               {1, [][]index.Change[*pod]{put(added), remove(added)}},
		"deletion without a last state":       {1, [][]index.Change[*pod]{put(added), gone}},
		"both at once":                        {1, [][]index.Change[*pod]{slices.Concat(put(added), gone)}},
		"the second object of a key":          {2, [][]index.Change[*pod]{put(second), remove(second)}},
		"an object with a key of its own":     {2, [][]index.Change[*pod]{put(alone), remove(alone)}},
		"deletion of what is not there":       {0, [][]index.Change[*pod]{remove(&pod{name: "absent"})}},
		"several deletions of what is absent": {0, [][]index.Change[*pod]{remove(&pod{name: "a"}, &pod{name: "b"})}},
	} {
		events := make([]index.Event[*pod], 0, 1000)
		assert.Equal(t, test.allocs, testing.AllocsPerRun(50, func() {
			events = events[:0]
			for _, changes := range test.writes {
				events = store.Apply(events, changes, "2")
			}
		}), name)
	}
	require.Equal(t, len(objs)+1, store.Len())
}

// TestAllocationsOfReads holds reads to what their comments say: a slice is all that
// is allocated for one, and nothing for a loop, however many objects there are.
func TestAllocationsOfReads(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	node := byNode()
	store := index.NewIndexer(index.WithKeyStrings[*pod]())
	require.NoError(t, store.AddIndexes(node))
	var objs []*pod
	for i := range 3000 {
		objs = append(objs, &pod{namespace: "default", name: fmt.Sprint("p", i), node: fmt.Sprint("n", i%1500)})
	}
	store.Apply(nil, put(objs...), "1")
	seen := 0
	for name, test := range map[string]struct {
		allocs float64
		read   func()
	}{
		"Get":             {0, func() { store.Get(index.Key{Namespace: "default", Name: "p7"}) }},
		"GetByKeyString":  {0, func() { store.GetByKeyString("default/p7") }},
		"KeyStrings":      {1, func() { seen += len(store.KeyStrings()) }},
		"of an index key": {1, func() { seen += len(node.KeyStrings("n7")) }},
		"ListKeys":        {1, func() { seen += len(node.ListKeys()) }},
		"ListNamespace":   {1, func() { seen += len(store.ListNamespace("default")) }},
		"Namespace": {0, func() {
			for range store.InNamespace("default") {
				seen++
			}
		}},
		"Chunks": {0, func() {
			for chunk := range store.Chunks() {
				seen += len(chunk)
			}
		}},
		"Keys": {0, func() {
			for range store.Keys() {
				seen++
			}
		}},
		"Keys of an index": {0, func() {
			for range node.Keys() {
				seen++
			}
		}},
	} {
		assert.Equal(t, test.allocs, testing.AllocsPerRun(20, test.read), name)
	}
	require.NotZero(t, seen)
}
