package index_test

import (
	"iter"
	"runtime"
	"slices"
	"sync"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

type handle = index.Definition[*pod]

// TestAddIndexesAllOrNone gives AddIndexes a good index and a bad one: it returns the error of the
// bad one, and the good one can still be added.
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
		"name taken":          {index.Single("taken", key), `index "taken": name is taken by another index`},
		"name in one call":    {index.Single("node", key), `index "node": name is taken by another index`},
		"interface keys":      {index.New("i", func(*pod) []any { return nil }), "contains an interface"},
		"interface in struct": {index.New("i", func(*pod) []struct{ v any } { return nil }), "contains an interface"},
		"interface in array":  {index.New("i", func(*pod) [][2]error { return nil }), "contains an interface"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &pod{name: "p", node: "n1"}
			store := newStore(t, []handle{index.Single("taken", key)}, p)
			good := byNode()

			require.ErrorContains(t, store.AddIndexes(good, test.bad), test.message)

			requireNotAdded(t, func() { good.Get("n1") })
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
	used, good := byNode(), index.Single("good", func(*pod) (string, bool) { return "k", true })
	store := newStore(t, []handle{used}, p)

	require.ErrorIs(t, newStore(t, nil).AddIndexes(good, used), index.ErrIndexInUse)

	assert.Equal(t, []*pod{p}, used.Get("n1"), "the first use goes on")
	require.NoError(t, store.AddIndexes(good, used, good), "what is there already is left as it is")
	assert.Equal(t, []*pod{p}, good.Get("k"))
	assert.Equal(t, []*pod{p}, used.Get("n1"))
	assert.Equal(t, []handle{used, good}, store.Indexes())
}

func requireNotAdded(t *testing.T, read func()) {
	t.Helper()
	defer func() {
		t.Helper()
		err, ok := recover().(error)
		require.True(t, ok, "it panics with an error")
		require.ErrorIs(t, err, index.ErrNotAdded)
	}()
	read()
}

// TestAddIndexesAfterAPanic: an index function panics when another index, and half of this one, are
// filled. Nothing of that is left when both are added again.
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
	requireNotAdded(t, func() { good.Get("n1") })

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

// TestLookUpsPanicBeforeTheIndexIsAdded: reads panic that would otherwise find nothing in any
// store.
func TestLookUpsPanicBeforeTheIndexIsAdded(t *testing.T) {
	node, version := byNode(), byVersion()
	store := newStore(t, nil, &pod{name: "p", node: "n1"})
	before := store.Snapshot()
	live := map[string]func(){
		"Get":        func() { node.Get("n1") },
		"One":        func() { node.One("n1") },
		"Has":        func() { node.Has("n1") },
		"All":        func() { drain(node.All("n1")) },
		"Keys":       func() { drain(node.Keys()) },
		"ListKeys":   func() { node.ListKeys() },
		"KeyStrings": func() { node.KeyStrings("n1") },
		"Len":        func() { node.Len("n1") },
		"Intersect":  func() { drain(index.Intersect(node.Is("n1"))) },
		"Where":      func() { drain(index.Intersect(node.Where(func(string) bool { return true }))) },
		"Not":        func() { drain(index.Intersect(index.Not(node.Is("n1")))) },
		"ordered":    func() { version.Len() },
		"Range":      func() { drain2(version.All()) },
		"Backward":   func() { drain2(version.Backward(index.From(1))) },
	}
	inSnapshot := map[string]func(){
		"In":        func() { node.In(before) },
		"ordered":   func() { version.In(before) },
		"Intersect": func() { drain(before.Intersect(node.Is("n1"))) },
		"Not":       func() { drain(before.Intersect(index.Not(node.Where(func(string) bool { return true })))) },
	}
	requireAll := func(reads map[string]func()) {
		for name, read := range reads {
			t.Run(name, func(t *testing.T) { requireNotAdded(t, read) })
		}
	}
	requireAll(live)
	requireAll(inSnapshot)

	require.NoError(t, store.AddIndexes(node, version))
	for _, read := range live {
		assert.NotPanics(t, read)
	}
	requireAll(inSnapshot)
	now := store.Snapshot()
	assert.Equal(t, 1, node.In(now).Len("n1"), "a snapshot taken now has the indexes")
	assert.Equal(t, 1, version.In(now).Len())

	store.RemoveIndexes(node, version, byNode())
	requireAll(live)
	assert.Empty(t, store.Indexes())
	assert.Equal(t, 1, node.In(now).Len("n1"), "snapshots keep it")
	assert.Equal(t, 1, version.In(now).Len())

	other := newStore(t, []handle{node, version}, &pod{name: "q", node: "n2"})
	assert.Equal(t, 1, node.Len("n2"), "they can be added to another one")
	assert.False(t, node.Has("n1"))
	assert.Equal(t, 1, version.Len())
	other.Release()
	again := newStore(t, []handle{node, version}, &pod{name: "r", node: "n3"})
	assert.Equal(t, 1, node.Len("n3"), "and after that was released to one more")
	assert.False(t, node.Has("n2"))
	other.Release()
	assert.True(t, node.Has("n3"), "the release of an earlier one means nothing to them")
	clone := node.Clone()
	assert.ErrorIs(t, again.AddIndexes(clone), index.ErrNameTaken)
	newStore(t, []handle{clone}, &pod{name: "s", node: "n4"})
	assert.True(t, clone.Has("n4"))
	assert.False(t, node.Has("n4"))
}

func drain2[K, V any](seq iter.Seq2[K, V]) {
	for range seq {
	}
}

// TestEnsure has two users who want the same labels, and know nothing of each other.
func TestEnsure(t *testing.T) {
	web := &pod{name: "a", labels: map[string]string{"app": "web", "zone": "z"}}
	store := newStore(t, nil, web)
	first, err := index.Ensure(store, index.Labels[*pod]("app", "zone"))
	require.NoError(t, err)
	second, err := index.Ensure(store, index.Labels[*pod]("zone", "app", "zone"))
	require.NoError(t, err)
	assert.Same(t, first, second)
	assert.Equal(t, []*pod{web}, second.Get(index.Label{Key: "app", Value: "web"}))
	assert.Len(t, store.Indexes(), 1)

	node, err := index.Ensure(store, byNode())
	require.NoError(t, err)
	same, err := index.Ensure(store, node)
	require.NoError(t, err)
	assert.Same(t, node, same)
	_, err = index.Ensure(store, byNode())
	assert.ErrorIs(t, err, index.ErrNameTaken, "what functions do cannot be compared")
	assert.ErrorContains(t, err, `index "node"`)
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

// TestDeletedObjectsAreFreed looks at the garbage collector: the store
// holds nothing back, a snapshot does, as long as it is there.
func TestDeletedObjectsAreFreed(t *testing.T) {
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

// TestRemoveIndexesBesideReads lists by a selector, which uses the index if there is one, while the
// index is added and removed.
func TestRemoveIndexesBesideReads(t *testing.T) {
	app := index.Labels[*pod]("app")
	web := &pod{name: "a", labels: map[string]string{"app": "web"}}
	store := newStore(t, nil, web, &pod{name: "b", labels: map[string]string{"app": "db"}})
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				found := slices.Collect(store.Candidates("", selector(t, "app=web")))
				assert.Contains(t, found, web)
				found = slices.Collect(store.Snapshot().Candidates("", selector(t, "app,app!=db")))
				assert.Contains(t, found, web)
			}
		})
	}
	for range 2000 {
		require.NoError(t, store.AddIndexes(app))
		store.RemoveIndexes(app)
	}
	close(done)
	readers.Wait()
}
