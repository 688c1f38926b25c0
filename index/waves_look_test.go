package index_test

import (
	"iter"
	"slices"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
)

// cellReads are those of the store as it is, or of a snapshot.
type cellReads struct {
	index.Reader[*cell]
	tags interface { // nil: the index is not there
		All(int) iter.Seq[*cell]
		Keys() iter.Seq[int]
		Len(int) int
	}
	node interface{ Get(int) []*cell }
	pair interface {
		All([2]int) iter.Seq[*cell]
	}
	weight interface {
		All() iter.Seq2[float64, *cell]
		Range(index.Range[float64]) iter.Seq2[float64, *cell]
	}
	intersect func(...index.Term[*cell]) iter.Seq[*cell]
}

// look compares all reads of the store with the state.
func (w *tide) look() {
	r := cellReads{Reader: w.store, node: w.node, pair: w.pair, weight: w.weight, intersect: index.Intersect[*cell]}
	if w.tagged {
		r.tags = w.tags
	}
	w.lookWith(r, w.state)
}

// lookAt compares all reads of a snapshot with the state that it is of.
func (w *tide) lookAt(f frozenTide) {
	s := f.snapshot
	r := cellReads{Reader: s, node: w.node.In(s), pair: w.pair.In(s), weight: w.weight.In(s), intersect: s.Intersect}
	if f.tagged {
		r.tags = w.tags.In(s)
	}
	w.lookWith(r, f.state)
}

func (w *tide) lookWith(r cellReads, state cells) {
	all := where(state, func(*cell) bool { return true })
	require.Equal(w, len(all), r.Len())
	w.same(all, r.All())
	w.same(all, slices.Values(r.List()))
	keys := 0
	for k := range r.Keys() {
		require.NotNil(w, state[k])
		keys++
	}
	require.Equal(w, len(all), keys)
	for k, c := range state {
		if got, ok := r.Get(k); !ok || got != c {
			w.Fatalf("the object of %v is %v, want %v", k, got, c)
		}
	}
	for range 10 {
		k := *w.key()
		got, ok := r.Get(k)
		require.Equal(w, state[k] != nil, ok)
		require.Same(w, state[k], got)
		w.same(where(state, func(c *cell) bool { return c.namespace == k.Namespace }), r.InNamespace(k.Namespace))
	}
	w.same(where(state, func(c *cell) bool { return c.app == "web" }), func(yield func(*cell) bool) {
		for c := range r.Candidates("", labels.SelectorFromSet(labels.Set{"app": "web"})) {
			if c.app == "web" && !yield(c) {
				return
			}
		}
	})
	w.lookUp(r, state)
	w.lookInOrder(r, state)
}

// lookUp compares look-ups in indexes with the state.
func (w *tide) lookUp(r cellReads, state cells) {
	byNode, byPair, byTag := map[int]map[*cell]bool{}, map[[2]int]map[*cell]bool{}, map[int]map[*cell]bool{}
	for _, c := range state {
		file(byPair, c.pair, c)
		if c.node >= 0 {
			file(byNode, c.node, c)
		}
		for _, tag := range c.tags {
			file(byTag, tag, c)
		}
	}
	for range 20 {
		v, a, b := w.IntN(w.spread), w.IntN(w.spread), w.IntN(w.spread)
		w.same(byNode[v], slices.Values(r.node.Get(v)))
		p := [2]int{w.IntN(3), v}
		w.same(byPair[p], r.pair.All(p))
		both := where(state, func(c *cell) bool { return (c.node == v || c.node == b) && c.pair[0] == 1 })
		w.same(both, r.intersect(w.node.Is(v, b, v), w.pair.Where(func(p [2]int) bool { return p[0] == 1 })))
		if r.tags == nil {
			continue
		}
		w.same(byTag[v], r.tags.All(v))
		require.Equal(w, len(byTag[v]), r.tags.Len(v))
		if w.tagged { // terms are of the index as it is
			three := where(state, func(c *cell) bool {
				return c.node == v && (slices.Contains(c.tags, a) || slices.Contains(c.tags, b))
			})
			w.same(three, r.intersect(w.tags.Is(a, b, a), w.node.Is(v)))
		}
	}
	if r.tags == nil {
		return
	}
	tags := map[int]bool{}
	for tag := range r.tags.Keys() {
		require.NotNil(w, byTag[tag])
		tags[tag] = true
	}
	require.Equal(w, len(byTag), len(tags))
}

func file[K comparable](m map[K]map[*cell]bool, k K, c *cell) {
	if m[k] == nil {
		m[k] = map[*cell]bool{}
	}
	m[k][c] = true
}

// lookInOrder compares an ordered index with the state.
func (w *tide) lookInOrder(r cellReads, state cells) {
	last := -1.0
	w.same(where(state, func(*cell) bool { return true }), func(yield func(*cell) bool) {
		for v, c := range r.weight.All() {
			require.True(w, v >= last && c.weight == v, "%v at %v after %v", c, v, last)
			if last = v; !yield(c) {
				return
			}
		}
	})
	low := float64(w.IntN(w.spread)) / 2
	w.same(where(state, func(c *cell) bool { return c.weight >= low && c.weight < low+3 }), func(yield func(*cell) bool) {
		for _, c := range r.weight.Range(index.Between(low, low+3)) {
			if !yield(c) {
				return
			}
		}
	})
}

// same checks that objects are those that are wanted, each of them once.
func (w *tide) same(want map[*cell]bool, got iter.Seq[*cell]) {
	w.Helper()
	seen := make(map[*cell]bool, len(want))
	for c := range got {
		if !want[c] || seen[c] {
			w.Fatalf("%v is not expected, or is there twice", c)
		}
		seen[c] = true
	}
	if len(seen) != len(want) {
		w.Fatalf("%d objects, want %d", len(seen), len(want))
	}
}
