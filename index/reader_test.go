package index_test

import (
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

// ranges returns every way to range over a store, by name, each as a sequence
// of nothing in particular. Snapshots are taken when a loop begins: one that
// was taken before would protect the live sequences too.
func ranges(t *testing.T, store *index.Indexer[*pod], node *index.Index[string, *pod]) map[string]iter.Seq[any] {
	web := selector(t, "app=web")
	all := map[string]iter.Seq[any]{
		"All":            untyped(store.All()),
		"Keys":           untyped(store.Keys()),
		"Namespace":      untyped(store.InNamespace("default")),
		"Candidates all": untyped(store.Candidates("", nil)),
		"Candidates":     untyped(store.Candidates("default", web)),
		"Index.All":      untyped(node.All("n1")),
		"Index.Keys":     untyped(node.Keys()),
		"Intersect":      untyped(index.Intersect(node.Is("n1"), node.Is("n1", "n2"))),
	}
	for name, frozen := range map[string]func(*index.Snapshot[*pod]) iter.Seq[any]{
		"Snapshot.All":           func(s *index.Snapshot[*pod]) iter.Seq[any] { return untyped(s.All()) },
		"Snapshot.Keys":          func(s *index.Snapshot[*pod]) iter.Seq[any] { return untyped(s.Keys()) },
		"Snapshot.Namespace":     func(s *index.Snapshot[*pod]) iter.Seq[any] { return untyped(s.InNamespace("default")) },
		"Snapshot.Candidates":    func(s *index.Snapshot[*pod]) iter.Seq[any] { return untyped(s.Candidates("default", web)) },
		"Snapshot.Intersect":     func(s *index.Snapshot[*pod]) iter.Seq[any] { return untyped(s.Intersect(node.Is("n1"))) },
		"Snapshot.Intersect all": func(s *index.Snapshot[*pod]) iter.Seq[any] { return untyped(s.Intersect()) },
		"View.All":               func(s *index.Snapshot[*pod]) iter.Seq[any] { return untyped(node.In(s).All("n1")) },
		"View.Keys":              func(s *index.Snapshot[*pod]) iter.Seq[any] { return untyped(node.In(s).Keys()) },
	} {
		all[name] = func(yield func(any) bool) { frozen(store.Snapshot())(yield) }
	}
	return all
}

func untyped[E any](seq iter.Seq[E]) iter.Seq[any] {
	return func(yield func(any) bool) {
		for e := range seq {
			if !yield(e) {
				return
			}
		}
	}
}

// four pods of one namespace and application, two of them on n1, one on n2.
func four() []*pod {
	web := map[string]string{"app": "web"}
	return []*pod{
		{namespace: "default", name: "a", node: "n1", labels: web},
		{namespace: "default", name: "b", node: "n1", labels: web},
		{namespace: "default", name: "c", node: "n2", labels: web},
		{namespace: "default", name: "d", labels: web},
	}
}

// TestLoopBodiesMayWrite empties the store and fills it with other objects from within a loop,
// which still visits the objects of its beginning.
func TestLoopBodiesMayWrite(t *testing.T) {
	node := byNode()
	for name := range ranges(t, newStore(t, []handle{node}), node) {
		t.Run(name, func(t *testing.T) {
			node := byNode()
			store := newStore(t, []handle{node, index.Labels[*pod]("app")}, four()...)
			seq := ranges(t, store, node)[name]
			var want, got []any
			for e := range seq {
				want = append(want, e)
			}
			require.GreaterOrEqual(t, len(want), 2)

			for e := range seq {
				if got = append(got, e); len(got) == 1 {
					store.Apply(nil, remove(four()...), "2")
					require.Zero(t, store.Len())
					store.Apply(nil, put(&pod{namespace: "default", name: "x", node: "n1"}), "3")
					require.NoError(t, store.AddIndexes(byAddress()))
				}
				require.Len(t, node.Get("n1"), 1)
				require.Equal(t, 1, store.Snapshot().Len())
			}

			assert.Equal(t, want, got)
		})
	}
}

// TestLoopsMayEndEarly breaks out at every place: a sequence that continued would panic.
func TestLoopsMayEndEarly(t *testing.T) {
	node := byNode()
	store := newStore(t, []handle{node, index.Labels[*pod]("app")}, four()...)
	for name, seq := range ranges(t, store, node) {
		for stop := 1; stop <= 4; stop++ {
			n := 0
			for range seq {
				if n++; n == stop {
					break
				}
			}
			assert.LessOrEqual(t, n, stop, name)
		}
	}
	assert.Len(t, store.Apply(nil, remove(four()...), "2"), 4, "no lock is left behind")
}

// TestSequencesStartAnew ranges over the same sequence before and after a
// write: those of an Indexer show the current state each time.
func TestSequencesStartAnew(t *testing.T) {
	node := byNode()
	store := newStore(t, []handle{node, index.Labels[*pod]("app")}, four()...)
	all, onNode, join := store.All(), node.All("n1"), index.Intersect(node.Is("n1"))
	count := func(seq iter.Seq[*pod]) (n int) {
		for range seq {
			n++
		}
		return n
	}
	require.Equal(t, []int{4, 2, 2}, []int{count(all), count(onNode), count(join)})
	store.Apply(nil, remove(four()[0]), "2")
	assert.Equal(t, []int{3, 1, 1}, []int{count(all), count(onNode), count(join)})
}
