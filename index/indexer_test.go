package index_test

import (
	"runtime"
	"slices"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

type handle = index.Handle[*pod]

// TestAddIndexesAllOrNone gives AddIndexes a good index and a bad one: it
// tells what is wrong, and the good one is as free as before.
func TestAddIndexesAllOrNone(t *testing.T) {
	key := func(*pod) (string, bool) { return "k", true }
	for name, test := range map[string]struct {
		bad     handle // nil: the one that is in use
		message string
	}{
		"zero index":          {&index.Index[string, *pod]{}, "no name"},
		"nil pointer":         {(*index.Index[string, *pod])(nil), "nil index"},
		"no name":             {index.Single("", key), "no name"},
		"no single function":  {index.Single[string, *pod]("f", nil), `"f" has no function`},
		"no function":         {index.New[string, *pod]("f", nil), `"f" has no function`},
		"no label keys":       {index.Labels[*pod](), "has no function"},
		"name taken":          {index.Single("taken", key), `named "taken" already`},
		"name in one call":    {index.Single("node", key), `named "node" already`},
		"interface keys":      {index.New("i", func(*pod) []any { return nil }), "contains an interface"},
		"interface in struct": {index.New("i", func(*pod) []struct{ v any } { return nil }), "contains an interface"},
		"interface in array":  {index.New("i", func(*pod) [][2]error { return nil }), "contains an interface"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &pod{name: "p", node: "n1"}
			store := newStore(t, []handle{index.Single("taken", key)}, p)
			good := byNode()

			require.ErrorContains(t, store.AddIndexes(good, test.bad), test.message)

			assert.Empty(t, good.Get("n1"))
			require.NoError(t, store.AddIndexes(good), "the good index is free")
			assert.Equal(t, []*pod{p}, good.Get("n1"))
			assert.Error(t, store.AddIndexes(test.bad), "the bad one is as bad as before")
		})
	}
	t.Run("nil interface", func(t *testing.T) {
		store, good := newStore(t, nil), byNode()
		require.ErrorContains(t, store.AddIndexes(good, nil), "nil index")
		assert.NoError(t, store.AddIndexes(good))
	})
	t.Run("a good one after a name taken", func(t *testing.T) {
		store, other := newStore(t, []handle{byNode()}), newStore(t, nil)
		second := byNode()
		require.Error(t, store.AddIndexes(second))
		assert.NoError(t, other.AddIndexes(second), "it has no owner yet")
	})
}

func TestAddIndexesRefusesAnIndexInUse(t *testing.T) {
	p := &pod{name: "p", node: "n1"}
	for name, add := range map[string]func(store *index.Indexer[*pod], used, good handle) error{
		"here before":   func(store *index.Indexer[*pod], used, good handle) error { return store.AddIndexes(good, used) },
		"twice at once": func(store *index.Indexer[*pod], _, good handle) error { return store.AddIndexes(good, good) },
		"elsewhere":     func(_ *index.Indexer[*pod], used, good handle) error { return newStore(t, nil).AddIndexes(good, used) },
	} {
		t.Run(name, func(t *testing.T) {
			used, good := byNode(), index.Single("good", func(*pod) (string, bool) { return "k", true })
			store := newStore(t, []handle{used}, p)

			require.ErrorIs(t, add(store, used, good), index.ErrIndexInUse)

			assert.Equal(t, []*pod{p}, used.Get("n1"), "the first use goes on")
			require.NoError(t, store.AddIndexes(good))
			assert.Equal(t, []*pod{p}, good.Get("k"))
		})
	}
}

// TestAddIndexesAfterAPanic has an index function panic when another index is
// filled already and half of its own keys are there. Nothing of that is left
// when both are added again.
func TestAddIndexesAfterAPanic(t *testing.T) {
	p, q := &pod{name: "p", node: "n1"}, &pod{name: "q", node: "n2"}
	store, good, broken := newStore(t, nil, p, q), byNode(), true
	bad := index.Single("bad", func(obj *pod) (string, bool) {
		if broken && obj == q {
			panic("broken")
		}
		return "of " + obj.name, true
	})

	require.PanicsWithValue(t, "broken", func() { _ = store.AddIndexes(good, bad) })
	assert.Empty(t, good.Get("n1"))

	broken = false
	require.NoError(t, store.AddIndexes(good, bad))
	r := &pod{name: "r", node: "n2"}
	store.Apply(nil, append(put(r), remove(p)...), "2")
	assert.Empty(t, good.Get("n1"))
	assert.ElementsMatch(t, []*pod{q, r}, good.Get("n2"))
	assert.Equal(t, []*pod{q}, bad.Get("of q"))
	assert.Equal(t, []*pod{r}, bad.Get("of r"))
	assert.Equal(t, []string{"of q", "of r"}, keysOf(bad.Keys()))
}

func TestLookUpsBeforeTheIndexIsAddedFindNothing(t *testing.T) {
	node := byNode()
	store := newStore(t, nil, &pod{name: "p", node: "n1"})
	assert.Nil(t, node.Get("n1"))
	assert.Empty(t, slices.Collect(node.All("n1")))
	assert.Empty(t, slices.Collect(node.Keys()))
	assert.Zero(t, node.Len("n1"))
	assert.Empty(t, slices.Collect(index.Intersect(node.Is("n1"))))

	before := store.Snapshot()
	require.NoError(t, store.AddIndexes(node))
	view := node.In(before)
	assert.Nil(t, view.Get("n1"))
	assert.Empty(t, slices.Collect(view.All("n1")))
	assert.Empty(t, slices.Collect(view.Keys()))
	assert.Zero(t, view.Len("n1"))
	assert.Empty(t, slices.Collect(before.Intersect(node.Is("n1"))))

	assert.Equal(t, 1, node.Len("n1"))
	assert.Equal(t, 1, node.In(store.Snapshot()).Len("n1"), "a snapshot taken now has the index")
}

func TestResourceVersionFollowsTheWrites(t *testing.T) {
	store := index.NewIndexer[*pod]()
	expect := func(want, why string) {
		t.Helper()
		assert.Equal(t, want, store.ResourceVersion(), why)
		assert.Equal(t, want, store.Snapshot().ResourceVersion(), why)
	}
	expect("", "nothing was stored")
	store.Apply(nil, put(&pod{name: "p"}), "7")
	expect("7", "a batch has a version")
	store.Apply(nil, put(&pod{name: "p"}), "")
	expect("7", "a batch may have none")
	store.Apply(nil, nil, "8")
	expect("8", "a batch may have nothing else")
	store.SetResourceVersion("")
	expect("", "it is not known any more")
	store.SetResourceVersion("9")
	expect("9", "a bookmark")
	before := store.Snapshot()
	store.Replace(nil, nil, "5", index.Relisted)
	expect("5", "a list has the version of the list, whatever it is")
	assert.Equal(t, "9", before.ResourceVersion())
	store.Replace(nil, nil, "", index.Relisted)
	expect("", "a list of unknown version")
	store.SetResourceVersion("10")
	store.ReplaceNamespace(nil, "ns", nil, "", index.Relisted)
	expect("10", "a list of a namespace may have none")
}

func TestAnEmptyListEmptiesEverything(t *testing.T) {
	node, address := byNode(), byAddress()
	p := &pod{namespace: "default", name: "p", node: "n1", addresses: []string{"a1", "a2"}}
	store := newStore(t, []handle{node, address}, p)
	before := store.Snapshot()

	store.Replace(nil, nil, "2", index.Relisted)

	m := model{}
	check(t, m, store)
	assert.Empty(t, node.Get("n1"))
	assert.Empty(t, slices.Collect(address.Keys()))
	check(t, model{index.KeyOf(p): p}, before)
	assert.Equal(t, []*pod{p}, address.In(before).Get("a2"))

	// The indexes are still there.
	again := &pod{namespace: "default", name: "q", node: "n2"}
	assert.Equal(t, []index.Event[*pod]{{Type: index.Added, Reason: index.Watched, New: again}}, store.Apply(nil, put(again), "2"))
	assert.Equal(t, []*pod{again}, node.Get("n2"))
}

// TestObjectsThatAreGoneAreLetGo looks at the garbage collector: the store
// holds nothing back, a snapshot does, as long as it is there.
func TestObjectsThatAreGoneAreLetGo(t *testing.T) {
	for name, forget := range map[string]func(store *index.Indexer[*pod]){
		"delete":  func(store *index.Indexer[*pod]) { store.Apply(nil, remove(&pod{name: "p"}), "") },
		"update":  func(store *index.Indexer[*pod]) { store.Apply(nil, put(&pod{name: "p"}), "") },
		"replace": func(store *index.Indexer[*pod]) { store.Replace(nil, []*pod{{name: "q"}}, "", index.Relisted) },
		"empty":   func(store *index.Indexer[*pod]) { store.Replace(nil, nil, "", index.Relisted) },
	} {
		for place, last := range map[string]bool{"first": false, "last": true} {
			t.Run(name+" "+place, func(t *testing.T) {
				others := []*pod{{name: "q", node: "n1"}, {name: "r", node: "n1"}}
				store := newStore(t, []handle{byNode(), byAddress()})
				if last {
					store.Apply(nil, put(others...), "")
				}
				p := weak.Make(storeOne(store))
				if !last {
					store.Apply(nil, put(others...), "")
				}
				snapshot := store.Snapshot()

				forget(store)

				runtime.GC()
				require.NotNil(t, p.Value(), "the snapshot has it")
				runtime.KeepAlive(snapshot)
				runtime.GC()
				assert.Nil(t, p.Value())
				runtime.KeepAlive(store)
			})
		}
	}
}

func storeOne(store *index.Indexer[*pod]) *pod {
	p := &pod{name: "p", node: "n1", addresses: []string{"a1", "a2"}}
	store.Apply(nil, put(p), "")
	return p
}
