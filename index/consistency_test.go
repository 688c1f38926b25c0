package index_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/kubetyped/informer/index"
)

// twins is a store in which every batch keeps what readers check: the objects
// come in pairs of one version, one half on each of two nodes, and the number
// of pairs is constant.
type twins struct {
	store *index.Indexer[*pod]
	node  *index.Index[string, *pod]
	half  *index.Index[string, *pod]
	pairs int
}

// check reads one view of the store, or of one node, and finds each of the
// pairs half as often as halves says, with one version.
func (w *twins) check(seq iter.Seq[*pod], halves int) error {
	versions, count, newest := make(map[string]int, w.pairs), 0, 0
	for p := range seq {
		count++
		newest = max(newest, p.version)
		if v, ok := versions[p.uid]; ok && v != p.version {
			return fmt.Errorf("pair %s has versions %d and %d", p.uid, v, p.version)
		}
		versions[p.uid] = p.version
	}
	if len(versions) != w.pairs || count != halves*w.pairs {
		return fmt.Errorf("%d objects of %d pairs, not %d of %d", count, len(versions), halves*w.pairs, w.pairs)
	}
	return nil
}

// some does the same, if there is anything, and returns how many objects it finds.
func (w *twins) some(seq iter.Seq[*pod], halves int) (found int, err error) {
	objs := slices.Collect(seq)
	if len(objs) == 0 {
		return 0, nil
	}
	return len(objs), w.check(slices.Values(objs), halves)
}

func newest(seq iter.Seq[*pod]) (version int) {
	for p := range seq {
		version = max(version, p.version)
	}
	return version
}

// readers are called over and over while the writer is at work.
func (w *twins) readers() map[string]func() error {
	list := func(objs []*pod) iter.Seq[*pod] {
		return func(yield func(*pod) bool) {
			for _, p := range objs {
				if !yield(p) {
					return
				}
			}
		}
	}
	last := map[index.Key]int{}
	return map[string]func() error{
		"get": func() error {
			for id := range 2 * w.pairs {
				key := index.KeyOf(pair(id, 0)[0])
				if p, ok := w.store.Get(key); ok && p.version < last[key] || ok && index.KeyOf(p) != key {
					return fmt.Errorf("Get of %v returned %v after version %d", key, p, last[key])
				} else if ok {
					last[key] = p.version
				}
			}
			return nil
		},
		"list":      func() error { return w.check(list(w.store.List()), 2) },
		"all":       func() error { return w.check(w.store.All(), 2) },
		"namespace": func() error { return w.check(w.store.InNamespace("default"), 2) },
		"index":     func() error { return w.check(w.node.All("n0"), 1) },
		"index get": func() error { return w.check(list(w.node.Get("n1")), 1) },
		"both":      func() error { return w.check(index.Intersect(w.node.Is("n0", "n1")), 2) },
		"join": func() error {
			return w.check(index.Intersect(w.node.Is("n0", "n1"), w.half.Is("left")), 1)
		},
		"counts": func() error {
			if n, len0, len1 := w.store.Len(), w.node.Len("n0"), w.node.Len("n1"); n != 2*w.pairs || len0 != w.pairs || len1 != w.pairs {
				return fmt.Errorf("%d objects, %d and %d on the nodes", n, len0, len1)
			}
			return nil
		},
		"version is not ahead": func() error {
			version, err := strconv.Atoi(w.store.ResourceVersion())
			if err != nil {
				return err
			}
			if got := newest(w.store.All()); got < version {
				return fmt.Errorf("the version is %d, the newest object %d", version, got)
			}
			return nil
		},
		"snapshot": func() error {
			s := w.store.Snapshot()
			view := w.node.In(s)
			if got := fmt.Sprint(newest(s.All())); got != s.ResourceVersion() {
				return fmt.Errorf("the snapshot's version is %s, its newest object %s", s.ResourceVersion(), got)
			}
			for p := range s.All() {
				if got, ok := s.Get(index.KeyOf(p)); !ok || got != p {
					return fmt.Errorf("%v is listed, and Get returns %v", p, got)
				}
			}
			if err := w.check(s.All(), 2); err != nil {
				return err
			}
			if err := w.check(view.All("n1"), 1); err != nil {
				return err
			}
			return w.check(s.Intersect(w.half.Is("right"), w.node.Is("n0", "n1")), 1)
		},
	}
}

// pair returns both halves of a pair; the left one is on the first node if
// the version is even.
func pair(id, version int) []*pod {
	halves := make([]*pod, 2)
	for i, name := range []string{"left", "right"} {
		halves[i] = &pod{
			namespace: "default", name: fmt.Sprint(name, id), uid: fmt.Sprint(id), version: version,
			node: fmt.Sprint("n", (version+i)%2), addresses: []string{name, "any"},
		}
	}
	return halves
}

// TestReadersSeeAllOfABatchOrNothing runs readers of every kind with a writer that updates pairs
// and replaces pairs by others, so that objects change their positions and their places in the
// lists.
func TestReadersSeeAllOfABatchOrNothing(t *testing.T) {
	const pairs, batches = 700, 400
	w := &twins{pairs: pairs, node: byNode(), half: byAddress()}
	w.store = newStore(t, []handle{w.node, w.half})
	var first []*pod
	present, absent := make([]int, pairs), make([]int, pairs)
	for id := range pairs {
		present[id], absent[id] = id, pairs+id
		first = append(first, pair(id, 0)...)
	}
	w.store.Replace(nil, first, "0", index.Initial)

	ctx, stop := context.WithCancel(t.Context())
	group, ctx := errgroup.WithContext(ctx)
	for name, read := range w.readers() {
		group.Go(func() error {
			for rounds := 0; rounds < 2 || ctx.Err() == nil; rounds++ {
				if err := read(); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			return nil
		})
	}
	random := rand.New(rand.NewPCG(1, 2))
	for version := 1; version <= batches && ctx.Err() == nil; version++ {
		var changes []index.Change[*pod]
		for range 1 + random.IntN(20) {
			i, j := random.IntN(pairs), random.IntN(pairs)
			if random.IntN(2) == 0 {
				changes = append(changes, remove(pair(present[i], version)...)...)
				present[i], absent[j] = absent[j], present[i]
			}
			changes = append(changes, put(pair(present[i], version)...)...)
		}
		w.store.Apply(nil, changes, fmt.Sprint(version))
	}
	stop()
	require.NoError(t, group.Wait())
}
