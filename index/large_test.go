package index_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

// large is a store of many pages with a map, as in TestModel, but with checks that cost time in
// proportion to the objects.
type large struct {
	random  *rand.Rand
	store   *index.Indexer[*pod]
	node    *index.Index[string, *pod]
	address *index.Index[string, *pod]
	model   model
	version int
}

func (l *large) pod(name int) *pod {
	l.version++
	p := &pod{namespace: fmt.Sprint("ns", name%7), name: fmt.Sprint("p", name), version: l.version}
	switch l.random.IntN(10) {
	case 0: // not scheduled
	case 1, 2, 3, 4:
		p.node = "hot" // a list of more than one page
	default:
		p.node = fmt.Sprint("n", l.random.IntN(700))
	}
	for range l.random.IntN(4) {
		p.addresses = append(p.addresses, fmt.Sprint("a", l.random.IntN(900)))
	}
	return p
}

// apply writes n changes about objects below limit, with the given share of
// deletions in percent.
func (l *large) apply(t *testing.T, n, limit, deletions int) {
	changes := make([]index.Change[*pod], n)
	for i := range changes {
		p := l.pod(l.random.IntN(limit))
		changes[i].Object = p
		if changes[i].Delete = l.random.IntN(100) < deletions; changes[i].Delete {
			delete(l.model, index.KeyOf(p))
		} else {
			l.model[index.KeyOf(p)] = p
		}
	}
	before := l.store.Len()
	for _, e := range l.store.Apply(nil, changes, "") {
		switch e.Type {
		case index.Added:
			before++
		case index.Deleted:
			before--
		}
	}
	require.Equal(t, len(l.model), before, "the events tell all")
}

func (l *large) replace(limit int) {
	l.model = model{}
	list := make([]*pod, 0, limit)
	for _, name := range l.random.Perm(limit) {
		if l.random.IntN(3) > 0 {
			p := l.pod(name)
			l.model[index.KeyOf(p)] = p
			list = append(list, p)
		}
	}
	l.store.Replace(nil, list, "", index.Relisted)
}

// check compares s with m.
func (l *large) check(t *testing.T, m model, s *index.Snapshot[*pod]) {
	require.Equal(t, len(m), s.Len())
	listed := model{}
	for p := range s.All() {
		listed[index.KeyOf(p)] = p
	}
	require.True(t, maps.Equal(m, listed), "All")
	byNode, byAddress := map[string]int{}, map[string]int{}
	for key, p := range m {
		got, ok := s.Get(key)
		require.True(t, ok)
		require.Same(t, p, got)
		if p.node != "" {
			byNode[p.node]++
		}
		distinct := map[string]bool{}
		for _, a := range p.addresses {
			distinct[a] = true
		}
		for a := range distinct {
			byAddress[a]++
		}
	}
	checkKeys(t, m, l.node.In(s), byNode, func(p *pod, node string) bool { return onNode(node)(p) })
	checkKeys(t, m, l.address.In(s), byAddress, func(p *pod, address string) bool { return withAddress(address)(p) })

	want, got := 0, 0
	for _, p := range m {
		if p.node == "hot" && (withAddress("a1")(p) || withAddress("a2")(p)) {
			want++
		}
	}
	for p := range s.Intersect(l.node.Is("hot"), l.address.Is("a1", "a2")) {
		require.Same(t, m[index.KeyOf(p)], p)
		got++
	}
	require.Equal(t, want, got, "Intersect")
}

// checkKeys compares an index with the number of objects that each key is
// meant to have.
func checkKeys(t *testing.T, m model, view index.View[string, *pod], want map[string]int, filed func(*pod, string) bool) {
	got := map[string]int{}
	for key := range view.Keys() {
		seen := map[*pod]bool{}
		for p := range view.All(key) {
			require.Same(t, m[index.KeyOf(p)], p)
			require.True(t, filed(p, key), "%v is filed under %s", p, key)
			require.False(t, seen[p], "%v stands twice under %s", p, key)
			seen[p] = true
		}
		got[key] = len(seen)
	}
	require.Equal(t, want, got)
}

// TestLargeModel lets a store grow to 5,000 objects, change, shrink to a few
// and grow again, with snapshots of all of these states.
func TestLargeModel(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			l := &large{random: rand.New(rand.NewPCG(seed, 1)), node: byNode(), address: byAddress(), model: model{}}
			l.store = newStore(t, []handle{l.node})
			var states []frozen
			snapshot := func() {
				states = append(states, frozen{l.store.Snapshot(), maps.Clone(l.model)})
			}
			l.apply(t, 6000, 5000, 0)
			require.NoError(t, l.store.AddIndexes(l.address))
			snapshot()
			for _, phase := range []struct{ batches, size, limit, deletions int }{
				{5, 300, 5000, 30},
				{20, 1, 5000, 10},
				{12, 2500, 5000, 90}, // nearly nothing is left
				{4, 2000, 9000, 20},  // new names
			} {
				for range phase.batches {
					l.apply(t, phase.size, phase.limit, phase.deletions)
				}
				snapshot()
			}
			l.replace(6000)
			snapshot()
			l.replace(1100)
			l.apply(t, 50, 1100, 50)
			snapshot()
			for key, p := range maps.Clone(l.model) {
				l.store.Apply(nil, remove(p), "")
				delete(l.model, key)
			}
			snapshot()
			l.apply(t, 1500, 5000, 10)
			snapshot()

			for _, s := range states {
				l.check(t, s.model, s.snapshot)
			}
			for key, p := range l.model {
				got, _ := l.store.Get(key)
				require.Same(t, p, got)
			}
		})
	}
}
