package index_test

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/index"
)

// TestQueriesModel compares ordered indexes, joined terms and differences of snapshots
// with what a walk over all objects finds, after random writes.
func TestQueriesModel(t *testing.T) { rapid.Check(t, checkQueries) }

func FuzzQueriesModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkQueries)) }

type queries struct {
	*index.Indexer[*pod]
	node, address *index.Index[string, *pod]
	version       *index.Ordered[int, *pod]
	app           *index.Ordered[string, *pod]
}

func checkQueries(t *rapid.T) {
	q := &queries{
		Indexer: index.NewIndexer[*pod](), node: byNode(), address: byAddress(), version: byVersion(),
		app: index.NewOrdered("app", func(p *pod) (string, bool) { app, ok := p.labels["app"]; return app, ok }),
	}
	require.NoError(t, q.AddIndexes(q.node, q.address, q.version, q.app))
	type state struct {
		snapshot *index.Snapshot[*pod]
		objects  []*pod
	}
	var states []state
	var objects []*pod
	for range rapid.IntRange(1, 6).Draw(t, "steps") {
		list := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) *pod {
			return drawPod(t, rapid.IntRange(-2, 9).Draw(t, "version"))
		}), 0, 30, func(p *pod) index.Key { return index.KeyOf(p) }).Draw(t, "list")
		before := q.Snapshot()
		switch rapid.IntRange(0, 3).Draw(t, "write") {
		case 0:
			q.Replace(nil, list, "1", index.Relisted)
		case 1:
			q.Apply(nil, remove(list...), "1")
		default:
			q.Apply(nil, put(list...), "1")
		}
		objects = q.List()
		slices.SortFunc(objects, inOrderOfKeys)
		after := q.Snapshot()
		requireDiff(t, before, after)
		requireQueries(t, q, objects, nil)
		states = append(states, state{after, objects})
	}
	for _, s := range states {
		requireQueries(t, q, s.objects, s.snapshot)
		requireDiff(t, s.snapshot, states[0].snapshot)
	}
}

func inOrderOfKeys(a, b *pod) int {
	return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
}

// requireDiff makes the second state from the first one and the difference.
func requireDiff(t *rapid.T, before, after *index.Snapshot[*pod]) {
	have := map[index.Key]*pod{}
	for p := range before.All() {
		have[index.KeyOf(p)] = p
	}
	for e := range index.Diff(before, after) {
		require.Zero(t, e.Reason)
		switch e.Type {
		case index.Added:
			require.NotContains(t, have, e.Key())
			require.Nil(t, e.Old)
			have[e.Key()] = e.New
		case index.Updated:
			require.Same(t, have[e.Key()], e.Old)
			require.NotSame(t, e.Old, e.New)
			have[e.Key()] = e.New
		case index.Deleted:
			require.Same(t, have[e.Key()], e.Old)
			require.Same(t, e.Old, e.New)
			delete(have, e.Key())
		}
	}
	require.ElementsMatch(t, after.List(), slices.Collect(maps.Values(have)))
}

// requireQueries compares with objects, in order of their keys: in s or, if that is nil,
// in the current state.
func requireQueries(t *rapid.T, q *queries, objects []*pod, s *index.Snapshot[*pod]) {
	join := index.Intersect[*pod]
	version, app := ordered[int](q.version), ordered[string](q.app)
	if s != nil {
		join, version, app = s.Intersect, q.version.In(s), q.app.In(s)
	}
	hasAddress := func(p *pod, a string) bool { return slices.Contains(p.addresses, a) }
	late := func(a string) bool { return a >= "a3" }
	for name, query := range map[string]struct {
		terms []index.Term[*pod]
		holds func(*pod) bool
	}{
		"or": {
			[]index.Term[*pod]{index.Or(q.node.Is("n1"), q.address.Is("a1"))},
			func(p *pod) bool { return p.node == "n1" || hasAddress(p, "a1") },
		},
		"not": {
			[]index.Term[*pod]{index.Not(q.node.Is("n1"))},
			func(p *pod) bool { return p.node != "n1" },
		},
		"where": {
			[]index.Term[*pod]{q.address.Where(late)},
			func(p *pod) bool { return slices.ContainsFunc(p.addresses, late) },
		},
		"all of them": {
			[]index.Term[*pod]{
				index.Or(q.node.Is("n1", "n2"), index.Not(q.address.Where(late)), index.Or(q.node.Is("n3"))),
				index.Not(index.Or(q.address.Is("a1"), q.address.Is("a2"))),
			},
			func(p *pod) bool {
				first := p.node == "n1" || p.node == "n2" || !slices.ContainsFunc(p.addresses, late) || p.node == "n3"
				return first && !hasAddress(p, "a1") && !hasAddress(p, "a2")
			},
		},
	} {
		var want []*pod
		for _, p := range objects {
			if query.holds(p) {
				want = append(want, p)
			}
		}
		require.Equal(t, want, slices.SortedFunc(join(query.terms...), inOrderOfKeys), name)
	}
	requireOrdered(t, version, objects, func(p *pod) (int, bool) { return p.version, p.version >= 0 }, []int{-1, 0, 3, 4, 9, 10})
	requireOrdered(t, app, objects, func(p *pod) (string, bool) { a, ok := p.labels["app"]; return a, ok }, []string{"", "d", "db", "web", "x"})
	var want []string
	for _, p := range objects {
		if strings.HasPrefix(p.labels["app"], "w") {
			want = append(want, p.labels["app"])
		}
	}
	var got []string
	for k := range app.Range(index.Prefix("w")) {
		got = append(got, k)
	}
	require.Equal(t, want, got)
}

type ordered[K cmp.Ordered] interface {
	Len() int
	All() iter.Seq2[K, *pod]
	Range(index.Range[K]) iter.Seq2[K, *pod]
	Backward(index.Range[K]) iter.Seq2[K, *pod]
}

func requireOrdered[K cmp.Ordered](t *rapid.T, x ordered[K], objects []*pod, key func(*pod) (K, bool), keys []K) {
	type found struct {
		key K
		obj *pod
	}
	collect := func(seq iter.Seq2[K, *pod]) []found {
		list := []found{}
		for k, obj := range seq {
			list = append(list, found{k, obj})
		}
		return list
	}
	all := []found{}
	for _, p := range objects {
		if k, ok := key(p); ok {
			all = append(all, found{k, p})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(a.key, b.key) })
	require.Equal(t, all, collect(x.All()))
	require.Equal(t, len(all), x.Len())
	ranges := map[string]index.Range[K]{"all": {}}
	holds := map[string]func(found) bool{"all": func(found) bool { return true }}
	add := func(name string, r index.Range[K], in func(found) bool) { ranges[name], holds[name] = r, in }
	for i, k := range keys {
		add(fmt.Sprint("from ", i), index.From(k), func(f found) bool { return f.key >= k })
		add(fmt.Sprint("below ", i), index.Below(k), func(f found) bool { return f.key < k })
		for j, to := range keys {
			add(fmt.Sprint("between ", i, j), index.Between(k, to), func(f found) bool { return k <= f.key && f.key < to })
		}
	}
	for name, r := range ranges {
		want := []found{}
		for _, f := range all {
			if holds[name](f) {
				want = append(want, f)
			}
		}
		require.Equal(t, want, collect(x.Range(r)), name)
		paged := []found{}
		for page := r; ; {
			n := 0
			for k, obj := range x.Range(page) {
				paged = append(paged, found{k, obj})
				if n++; n == 2 {
					break
				}
			}
			if n < 2 {
				break
			}
			last := paged[len(paged)-1]
			page = page.After(last.key, index.KeyOf(last.obj))
		}
		require.Equal(t, want, paged, name)
		slices.Reverse(want)
		require.Equal(t, want, collect(x.Backward(r)), name)
		if len(want) > 1 {
			require.Equal(t, want[1:], collect(x.Backward(r.Before(want[0].key, index.KeyOf(want[0].obj)))), name)
		}
	}
}
