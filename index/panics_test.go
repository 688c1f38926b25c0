package index_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

// fragile is an object some of whose methods panic.
type fragile struct {
	name, namespace string
	uid             string // "": it panics when it is asked
	version         int
}

func (f *fragile) GetName() string { return mustHave("name", f.name) }
func (f *fragile) GetNamespace() string {
	return mustHave("namespace", f.namespace)
}
func (f *fragile) GetUID() string { return mustHave("uid", f.uid) }

func mustHave(what, value string) string {
	if value == "" {
		panic("no " + what)
	}
	return value
}

// fragiles returns n good objects, the last of which is another one if bad is not nil.
func fragiles(n, version int, bad *fragile) []*fragile {
	objs := make([]*fragile, n)
	for i := range objs {
		objs[i] = &fragile{name: fmt.Sprint("o", i), namespace: "ns", uid: "1", version: version}
	}
	if bad != nil {
		objs[n-1] = bad
	}
	return objs
}

// TestPanicsChangeNothing: if the options' functions or the objects' methods panic at the last of a
// few objects, or of many, nothing has changed, and readers and the next write succeed.
func TestPanicsChangeNothing(t *testing.T) {
	writes := map[string]func(*index.Indexer[*fragile], []*fragile) []index.Event[*fragile]{
		"apply": func(store *index.Indexer[*fragile], objs []*fragile) []index.Event[*fragile] {
			var changes []index.Change[*fragile]
			for _, obj := range objs {
				changes = append(changes, index.Change[*fragile]{Object: obj})
			}
			return store.Apply(nil, changes, "2")
		},
		"replace": func(store *index.Indexer[*fragile], objs []*fragile) []index.Event[*fragile] {
			return store.Replace(nil, objs, "2", index.Relisted)
		},
		"replace namespace": func(store *index.Indexer[*fragile], objs []*fragile) []index.Event[*fragile] {
			return store.ReplaceNamespace(nil, "ns", objs, "2", index.Relisted)
		},
	}
	for _, n := range []int{1, 3, 2000} {
		last := fmt.Sprint("o", n-1)
		for message, bad := range map[string]*fragile{
			"no uid":       {name: last, namespace: "ns"},
			"no name":      {namespace: "ns", uid: "1"},
			"no namespace": {name: last, uid: "1"},
		} {
			for name, write := range writes {
				t.Run(fmt.Sprint(name, " of ", n, ", ", message), func(t *testing.T) {
					var store *index.Indexer[*fragile]
					reads := 0
					store = index.NewIndexer(index.WithRecreated(func(old, updated *fragile) bool {
						reads += store.Len() // no lock is held
						return old.GetUID() != updated.GetUID()
					}), index.WithUnchanged(func(old, updated *fragile) bool {
						reads += store.Len()
						return updated.GetUID() == old.GetUID() && updated.version == old.version
					}))
					version := index.Single("version", func(f *fragile) (int, bool) { return f.version, true })
					require.NoError(t, store.AddIndexes(version))
					before := fragiles(n, 1, nil)
					require.Len(t, write(store, before), n)

					require.PanicsWithValue(t, message, func() { write(store, fragiles(n, 2, bad)) })

					assert.ElementsMatch(t, before, store.List())
					assert.Equal(t, n, version.Len(1))
					assert.Zero(t, version.Len(2))
					for _, obj := range before {
						got, _ := store.Get(index.KeyOf(obj))
						require.Same(t, obj, got)
					}
					events := write(store, fragiles(n, 3, nil))
					require.Len(t, events, n)
					assert.Equal(t, before[0], events[0].Old)
					assert.Equal(t, n, version.Len(3))
					assert.NotZero(t, reads)
				})
			}
		}
	}
}

// TestLiteralEventsOfRecreatedObjects: an addition has no old object, whatever the
// list compares with.
func TestLiteralEventsOfRecreatedObjects(t *testing.T) {
	store := index.NewIndexer(index.WithLiteralEvents[*pod](), index.WithRecreated(otherUID))
	first := &pod{name: "p", uid: "1"}
	second, third, same := &pod{name: "p", uid: "2"}, &pod{name: "p", uid: "3"}, &pod{name: "p", uid: "1"}
	store.Apply(nil, put(first), "1")
	assert.Equal(t, []index.Event[*pod]{
		{Type: index.Deleted, Reason: index.Recreated, Old: first, New: first},
		{Type: index.Added, Reason: index.Recreated, New: second},
		{Type: index.Deleted, Reason: index.Recreated, Old: first, New: first},
		{Type: index.Added, Reason: index.Recreated, New: third},
		{Type: index.Updated, Reason: index.Relisted, Old: first, New: same},
	}, store.Replace(nil, []*pod{second, third, same}, "2", index.Relisted))
	check(t, model{index.KeyOf(first): same}, store)
}

// TestKeyOfAChangeThatStores: it is left aside.
func TestKeyOfAChangeThatStores(t *testing.T) {
	store := index.NewIndexer[*pod]()
	p := &pod{namespace: "default", name: "p"}
	store.Apply(nil, []index.Change[*pod]{{Object: p, Key: &index.Key{Namespace: "other", Name: "q"}}}, "1")
	check(t, model{index.KeyOf(p): p}, store)
}

// TestChangesOfOneKeyInABatch: each event has the state before it, in a few changes
// and in many.
func TestChangesOfOneKeyInABatch(t *testing.T) {
	for _, others := range []int{0, 2000} {
		store := index.NewIndexer(index.WithRecreated(otherUID))
		a1, a2, a3, a4 := &pod{name: "a", uid: "1"}, &pod{name: "a", uid: "1"}, &pod{name: "a", uid: "2"}, &pod{name: "a", uid: "3"}
		changes := append(put(a1, a2, a3), remove(a3)...)
		for i := range others {
			changes = append(changes, put(&pod{name: fmt.Sprint("other", i)})...)
		}
		changes = append(append(changes, remove(a3)...), put(a4)...)
		events := store.Apply(nil, changes, "1")
		require.Len(t, events, 6+others)
		assert.Equal(t, []index.Event[*pod]{
			{Type: index.Added, Reason: index.Watched, New: a1},
			{Type: index.Updated, Reason: index.Watched, Old: a1, New: a2},
			{Type: index.Deleted, Reason: index.Recreated, Old: a2, New: a2},
			{Type: index.Added, Reason: index.Recreated, New: a3},
			{Type: index.Deleted, Reason: index.Watched, Old: a3, New: a3},
		}, events[:5])
		assert.Equal(t, index.Event[*pod]{Type: index.Added, Reason: index.Watched, New: a4}, events[len(events)-1])
	}
}
