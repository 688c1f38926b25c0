package index_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

func TestIntersectOfNothing(t *testing.T) {
	mine := byNode()
	p := &pod{name: "p", node: "n1"}
	store := newStore(t, []handle{mine}, p)
	for name, terms := range map[string][]index.Term[*pod]{
		"no keys":         {mine.Is()},
		"no keys at last": {mine.Is("n1"), mine.Is()},
		"unknown key":     {mine.Is("n1"), mine.Is("n9")},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Empty(t, slices.Collect(index.Intersect(terms...)))
			assert.Empty(t, slices.Collect(store.Snapshot().Intersect(terms...)))
		})
	}
	assert.Equal(t, []*pod{p}, slices.Collect(index.Intersect(mine.Is("n1"), mine.Is("n1"))))
	assert.Equal(t, []*pod{p}, slices.Collect(store.Snapshot().Intersect()), "no condition, all objects")
}

// TestIntersectRejectsTermsOfSeveralIndexers: terms without an answer panic.
func TestIntersectRejectsTermsOfSeveralIndexers(t *testing.T) {
	mine, other, unbound := byNode(), byNode(), byNode()
	p := &pod{name: "p", node: "n1"}
	store := newStore(t, []handle{mine}, p)
	newStore(t, []handle{other}, p)
	for name, test := range map[string]struct {
		terms   []index.Term[*pod]
		message string
	}{
		"no terms":      {nil, "there are no terms"},
		"empty union":   {[]index.Term[*pod]{index.Or[*pod]()}, "there are no terms"},
		"unbound":       {[]index.Term[*pod]{unbound.Is("n1")}, "was not added"},
		"unbound first": {[]index.Term[*pod]{unbound.Is("n1"), mine.Is("n1")}, "was not added"},
		"unbound last":  {[]index.Term[*pod]{mine.Is("n1"), unbound.Is("n1")}, "was not added"},
		"other indexer": {[]index.Term[*pod]{mine.Is("n1"), other.Is("n1")}, "different indexers"},
		"in a union":    {[]index.Term[*pod]{index.Or(mine.Is("n1"), other.Is("n1"))}, "different indexers"},
		"nil":           {[]index.Term[*pod]{nil}, "a term is nil"},
		"nil first":     {[]index.Term[*pod]{nil, mine.Is("n1")}, "a term is nil"},
		"nil last":      {[]index.Term[*pod]{mine.Is("n1"), nil}, "a term is nil"},
		"not nil":       {[]index.Term[*pod]{mine.Is("n1"), index.Not[*pod](nil)}, "a term is nil"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.ErrorContains(t, panicOf(func() { drain(index.Intersect(test.terms...)) }), test.message)
		})
	}
	snapshot := store.Snapshot()
	for _, terms := range [][]index.Term[*pod]{{nil}, {mine.Is("n1"), nil}, {other.Is("n1")}, {index.Or(other.Is("n1"))}} {
		assert.Error(t, panicOf(func() { drain(snapshot.Intersect(terms...)) }))
	}
}

// TestIsGivesEachObjectOnce asks for keys that share objects, and twice for
// the same key.
func TestIsGivesEachObjectOnce(t *testing.T) {
	address, node := byAddress(), byNode()
	a := &pod{name: "a", node: "n1", addresses: []string{"1", "2", "3"}}
	b := &pod{name: "b", node: "n1", addresses: []string{"2"}}
	c := &pod{name: "c", node: "n2", addresses: []string{"3", "1"}}
	d := &pod{name: "d", node: "n1", addresses: []string{"4"}}
	store := newStore(t, []handle{address, node}, a, b, c, d)

	for _, test := range []struct {
		terms []index.Term[*pod]
		want  []*pod
	}{
		{[]index.Term[*pod]{address.Is("1", "2")}, []*pod{a, b, c}},
		{[]index.Term[*pod]{address.Is("3", "1", "2", "9", "1")}, []*pod{a, b, c}},
		{[]index.Term[*pod]{address.Is("1", "2", "3"), node.Is("n1")}, []*pod{a, b}},
		{[]index.Term[*pod]{node.Is("n1", "n2"), address.Is("1", "1")}, []*pod{a, c}},
		{[]index.Term[*pod]{address.Is("1"), address.Is("2")}, []*pod{a}},
		{[]index.Term[*pod]{address.Is("1", "2"), address.Is("3", "4"), node.Is("n2")}, []*pod{c}},
	} {
		assert.ElementsMatch(t, test.want, slices.Collect(index.Intersect(test.terms...)))
		assert.ElementsMatch(t, test.want, slices.Collect(store.Snapshot().Intersect(test.terms...)))
	}
}

// TestIntersectRangesOverTheSmallestTerm takes the order of the result, which
// is not promised, as the witness: it is that of the smaller list, in which
// the objects were filed from the last to the first.
func TestIntersectRangesOverTheSmallestTerm(t *testing.T) {
	app, node := index.Labels[*pod]("app"), byNode()
	var all, few []*pod
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		all = append(all, &pod{name: name, labels: map[string]string{"app": "web"}})
	}
	store := newStore(t, []handle{app, node}, all...)
	for _, name := range []string{"f", "d", "b"} {
		few = append(few, &pod{name: name, labels: map[string]string{"app": "web"}, node: "n1"})
	}
	store.Apply(nil, put(few...), "")
	web := index.Label{Key: "app", Value: "web"}
	require.Equal(t, few, node.Get("n1"))
	require.NotEqual(t, few, slices.DeleteFunc(app.Get(web), func(p *pod) bool { return p.node == "" }))

	assert.Equal(t, few, slices.Collect(index.Intersect(app.Is(web), node.Is("n1"))))
	assert.Equal(t, few, slices.Collect(index.Intersect(node.Is("n1"), app.Is(web))))
	assert.Equal(t, few, slices.Collect(store.Snapshot().Intersect(app.Is(web), node.Is("n1"))))
}
