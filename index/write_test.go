package index_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

// TestPanicOfAnIndexFunctionStoresNothing: if the second of three objects panics, neither the first
// nor the version is stored, and the next batch gets its own index keys.
func TestPanicOfAnIndexFunctionStoresNothing(t *testing.T) {
	poison := &pod{name: "poison"}
	batch := []*pod{{name: "a", node: "n2"}, poison, {name: "c", node: "n2"}}
	for name, write := range map[string]func(*index.Indexer[*pod], ...*pod) []index.Event[*pod]{
		"apply": func(store *index.Indexer[*pod], objs ...*pod) []index.Event[*pod] {
			return store.Apply(nil, put(objs...), "2")
		},
		"replace": func(store *index.Indexer[*pod], objs ...*pod) []index.Event[*pod] {
			return store.Replace(nil, objs, "2", index.Relisted)
		},
	} {
		t.Run(name, func(t *testing.T) {
			node := byNode()
			picky := index.Single("picky", func(p *pod) (string, bool) {
				if p == poison {
					panic("poisoned")
				}
				return p.name, true
			})
			first := &pod{name: "a", node: "n1"}
			store := newStore(t, []handle{node, picky}, first)

			require.PanicsWithValue(t, "poisoned", func() { write(store, batch...) })

			check(t, model{index.KeyOf(first): first}, store)
			assert.Equal(t, "1", store.ResourceVersion())
			assert.Equal(t, []*pod{first}, node.Get("n1"))
			assert.Empty(t, node.Get("n2"))

			next := &pod{name: "a", node: "n3"}
			require.Len(t, write(store, next), 1)
			assert.Equal(t, []*pod{next}, node.Get("n3"))
			assert.Equal(t, []*pod{next}, picky.Get("a"))
			assert.Empty(t, node.Get("n1"))
		})
	}
}

func TestDeletionOfMissingObject(t *testing.T) {
	gone := index.Change[*pod]{Delete: true, Reason: index.Watched, Object: &pod{name: "gone"}}
	batch := append(put(&pod{name: "a"}), gone, gone)

	assert.Len(t, index.NewIndexer[*pod]().Apply(nil, batch, "1"), 1, "it is no event")

	store := index.NewIndexer(index.WithLiteralEvents[*pod]())
	events := store.Apply(nil, batch, "1")
	require.Len(t, events, 3)
	assert.Equal(t, index.Event[*pod]{Type: index.Deleted, Reason: index.Watched, New: gone.Object}, events[2])
	assert.Equal(t, 1, store.Len())
}

func TestListWithAKeyTwice(t *testing.T) {
	// The first "far" and the second are not looked at together.
	var between []*pod
	for i := range 40 {
		between = append(between, &pod{name: fmt.Sprint("between", i)})
	}
	list := slices.Concat(
		[]*pod{{name: "a", version: 1}, {name: "b"}, {name: "b", version: 2}, {name: "a", version: 2}, {name: "far"}},
		between, []*pod{{name: "far", version: 2}, {name: "a", version: 3}})
	for _, empty := range []bool{false, true} {
		for _, literal := range []bool{false, true} {
			t.Run(fmt.Sprintf("empty=%t/literal=%t", empty, literal), func(t *testing.T) {
				var opts []index.Option[*pod]
				if literal {
					opts = append(opts, index.WithLiteralEvents[*pod]())
				}
				store, before := index.NewIndexer(opts...), model{}
				if !empty {
					a := &pod{name: "a"}
					before[index.KeyOf(a)] = a
					store.Apply(nil, put(a), "1")
				}
				after := maps.Clone(before)
				events := store.Replace(nil, list, "2", index.Relisted)
				require.Len(t, events, len(list))
				for i, p := range list {
					want := index.Event[*pod]{Type: index.Added, Reason: index.Relisted, New: p}
					states := after
					if literal {
						states = before
					}
					if old := states[index.KeyOf(p)]; old != nil {
						want.Type, want.Old = index.Updated, old
					}
					assert.Equal(t, want, events[i])
					after[index.KeyOf(p)] = p
				}
				check(t, after, store)
			})
		}
	}
}

func TestApplyAppendsItsEvents(t *testing.T) {
	store := index.NewIndexer[*pod]()
	a, b := &pod{name: "a"}, &pod{name: "b"}
	final := &pod{name: "a", version: 2}

	events := store.Apply(nil, put(a), "1")
	events = store.Apply(events, append(put(b), index.Change[*pod]{Delete: true, Reason: index.OutOfScope, Object: final}), "2")
	events = store.Apply(events, remove(a), "3")

	assert.Equal(t, []index.Event[*pod]{
		{Type: index.Added, Reason: index.Watched, New: a},
		{Type: index.Added, Reason: index.Watched, New: b},
		{Type: index.Deleted, Reason: index.OutOfScope, Old: a, New: final},
	}, events, "the last one was gone already")
	assert.Equal(t, index.Key{Name: "a"}, events[2].Key())
}

func TestReplaceReturnsDeletionsFirst(t *testing.T) {
	a, b, c := &pod{name: "a"}, &pod{name: "b"}, &pod{name: "c"}
	store := newStore(t, nil, a, b)
	b2, b3 := &pod{name: "b", version: 2}, &pod{name: "b", version: 3}

	assert.Equal(t, []index.Event[*pod]{
		{Type: index.Deleted, Reason: index.Relisted, Old: a, New: a},
		{Type: index.Added, Reason: index.Relisted, New: c},
		{Type: index.Updated, Reason: index.Relisted, Old: b, New: b2},
		{Type: index.Updated, Reason: index.Relisted, Old: b2, New: b3},
	}, store.Replace(nil, []*pod{c, b2, b3}, "2", index.Relisted))
	check(t, model{index.KeyOf(b): b3, index.KeyOf(c): c}, store)
}

func otherUID(old, updated *pod) bool { return old.uid != updated.uid }

// TestRecreatedObjectsAreDeletedAndAdded covers both ways to learn of it.
func TestRecreatedObjectsAreDeletedAndAdded(t *testing.T) {
	first := &pod{name: "p", uid: "1", node: "n1"}
	same := &pod{name: "p", uid: "1", version: 2, node: "n1"}
	other := &pod{name: "p", uid: "2", node: "n2"}
	another := &pod{name: "p", uid: "3", node: "n3"}
	node := byNode()
	store := index.NewIndexer(nil, index.WithRecreated(otherUID))
	require.NoError(t, store.AddIndexes(node))
	store.Apply(nil, put(first), "1")

	assert.Equal(t, []index.Event[*pod]{
		{Type: index.Updated, Reason: index.Watched, Old: first, New: same},
		{Type: index.Deleted, Reason: index.Recreated, Old: same, New: same},
		{Type: index.Added, Reason: index.Recreated, New: other},
	}, store.Apply(nil, put(same, other), "2"))
	assert.Equal(t, []index.Event[*pod]{
		{Type: index.Deleted, Reason: index.Recreated, Old: other, New: other},
		{Type: index.Added, Reason: index.Recreated, New: another},
	}, store.Replace(nil, []*pod{another}, "3", index.Relisted))
	check(t, model{index.KeyOf(first): another}, store)
	assert.Equal(t, []string{"n3"}, keysOf(node.Keys()))
}

// TestUnchangedObjectsStayWhenRelisted keeps the object that is there, with
// its index keys, and takes the others from the list.
func TestUnchangedObjectsStayWhenRelisted(t *testing.T) {
	node := byNode()
	store := index.NewIndexer(index.WithUnchanged(func(old, updated *pod) bool { return old.version == updated.version }))
	require.NoError(t, store.AddIndexes(node))
	a, b := &pod{name: "a", version: 1, node: "n1"}, &pod{name: "b", version: 2, node: "n1"}
	store.Apply(nil, put(a, b), "1")
	sameA := &pod{name: "a", version: 1, node: "n2"}
	newB, c := &pod{name: "b", version: 3, node: "n3"}, &pod{name: "c", node: "n4"}

	assert.Equal(t, []index.Event[*pod]{
		{Type: index.Updated, Reason: index.Relisted, Old: b, New: newB},
		{Type: index.Added, Reason: index.Relisted, New: c},
	}, store.Replace(nil, []*pod{sameA, newB, c}, "4", index.Relisted))
	check(t, model{index.KeyOf(a): a, index.KeyOf(b): newB, index.KeyOf(c): c}, store)
	assert.Equal(t, []string{"n1", "n3", "n4"}, keysOf(node.Keys()))
	assert.Equal(t, "4", store.ResourceVersion())

	// A watch reports what it saw, changed or not.
	assert.Len(t, store.Apply(nil, put(sameA), "5"), 1)
}
