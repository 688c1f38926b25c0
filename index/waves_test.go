package index_test

import (
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/waves"
)

// cell is an object of the waves: it has index keys of all kinds, and the number of the
// write that made it.
type cell struct {
	namespace, name string
	version         int
	tags            []int // many, with repetitions
	node            int   // below zero: none
	pair            [2]int
	app             string
	weight          float64
}

func (c *cell) GetName() string      { return c.name }
func (c *cell) GetNamespace() string { return c.namespace }
func (c *cell) GetLabels() map[string]string {
	if c.app == "" {
		return nil
	}
	return map[string]string{"app": c.app}
}

// cells is a state of the store.
type cells map[index.Key]*cell

// tide is a store and its model: it grows to many thousand objects and shrinks to a few
// again, by batches of all sizes, lists and lists of a namespace. Meanwhile an index is
// added and removed, snapshots are held, and loops stand still in the middle.
type tide struct {
	*testing.T
	*rand.Rand
	store  *index.Indexer[*cell]
	state  cells
	known  []index.Key // those of state, and some that are gone
	names  int         // how many keys there can be
	areas  int         // of these, namespaces
	spread int         // of index keys
	writes int

	tags   *index.Index[int, *cell] // comes and goes
	tagged bool                     // it is there
	node   *index.Index[int, *cell]
	pair   *index.Index[[2]int, *cell]
	app    *index.Index[index.Label, *cell]
	weight *index.Ordered[float64, *cell]

	frozen []frozenTide
	loops  []*loop
}

// frozenTide is a snapshot, and its expected contents.
type frozenTide struct {
	snapshot *index.Snapshot[*cell]
	state    cells
	tagged   bool
}

// loop is a loop over objects that has begun, and those that it has yet to come to.
type loop struct {
	next func() (*cell, bool)
	stop func()
	left map[*cell]bool
}

// TestIndexWaves compares every read of a store, of its indexes and snapshots, and the
// events of every write, with a map that is searched from end to end.
func TestIndexWaves(t *testing.T) {
	waves.Run(t, 4, func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 2))
		sizes := []int{3, 60, 700, 1500, 6000}
		if waves.IsLong() {
			sizes = append(sizes, 30_000, 200_000)
		}
		w := newTide(t, r, sizes[r.IntN(len(sizes))])
		for range 20 + r.IntN(60) {
			w.step()
		}
		w.look()
		for _, f := range w.frozen {
			w.lookAt(f)
		}
		for _, l := range w.loops {
			w.advance(l, 10*w.names)
			l.stop()
		}
	})
}

func newTide(t *testing.T, r *rand.Rand, names int) *tide {
	w := &tide{T: t, Rand: r, state: cells{}, names: names, areas: 1 + r.IntN(1+r.IntN(1+names/2)), spread: 2 + r.IntN(1+r.IntN(names+1))}
	var opts []index.Option[*cell]
	if r.IntN(3) == 0 {
		opts = append(opts, index.WithKeyStrings[*cell]())
	}
	w.store = index.NewIndexer(opts...)
	calls := 0
	w.tags = index.New("tags", func(c *cell) []int {
		if calls++; calls%64 == 0 { // index functions may read
			_, _ = w.store.Get(index.KeyOf(c))
			_ = w.store.Snapshot()
		}
		return c.tags
	})
	w.node = index.Single("node", func(c *cell) (int, bool) {
		if calls%97 == 1 {
			_ = w.node.Has(1)
		}
		return c.node, c.node >= 0
	})
	w.pair = index.Single("pair", func(c *cell) ([2]int, bool) { return c.pair, true })
	w.app = index.Labels[*cell]("app")
	w.weight = index.NewOrdered("weight", func(c *cell) (float64, bool) { return c.weight, true })
	require.NoError(t, w.store.AddIndexes(w.node, w.pair, w.app, w.weight))
	return w
}

func (w *tide) step() {
	batch := min(4*w.names, []int{1, 1, 2, 5, 17, 255, 256, 257, 700, 1024, 1025, 5000}[w.IntN(12)])
	switch w.IntN(14) {
	case 0, 1: // it grows
		w.apply(w.IntN(2*w.names+1), batch, 5)
	case 2, 3: // it shrinks
		w.apply(w.IntN(2*len(w.state)+1), batch, 95)
		w.known = slices.Collect(maps.Keys(w.state))
	case 4, 5:
		w.apply(batch*(1+w.IntN(10)), batch, 30)
	case 6:
		w.replace(nil, []int{0, 5, 50, 100}[w.IntN(4)], w.IntN(w.names+1)*w.IntN(2))
	case 7:
		w.replace(&w.key().Namespace, []int{0, 50, 100}[w.IntN(3)], w.IntN(w.names+1))
	case 8:
		if w.tagged {
			w.store.RemoveIndexes(w.tags)
		} else {
			require.NoError(w, w.store.AddIndexes(w.tags))
		}
		w.tagged = !w.tagged
	case 9:
		w.frozen = append(w.frozen, w.freeze())
		if len(w.frozen) > 5 {
			w.frozen = slices.Delete(w.frozen, 0, 1+w.IntN(3))
		}
	case 10:
		if len(w.frozen) > 0 {
			f, now := w.frozen[w.IntN(len(w.frozen))], w.freeze()
			w.lookAt(f)
			w.compare(f, now)
			w.compare(now, f)
			w.compare(w.frozen[0], f)
		}
	case 11:
		w.begin()
	case 12:
		w.loops = slices.DeleteFunc(w.loops, func(l *loop) bool {
			over := w.advance(l, 1+w.IntN(2*w.names)) || w.IntN(10) == 0
			if over {
				l.stop() // in the middle, some of them
			}
			return over
		})
	default:
		w.look()
	}
}

// key returns any key.
func (w *tide) key() *index.Key {
	n := w.IntN(w.names)
	k := index.Key{Name: "n" + strconv.Itoa(n)}
	if area := n % w.areas; area > 0 {
		k.Namespace = "s" + strconv.Itoa(area)
	}
	return &k
}

// likely returns the key of an object that is there, most of the time.
func (w *tide) likely() *index.Key {
	if len(w.known) > 0 && w.IntN(8) > 0 {
		k := w.known[w.IntN(len(w.known))]
		return &k
	}
	return w.key()
}

// cell returns an object of a key.
func (w *tide) cell(k index.Key) *cell {
	w.writes++
	c := &cell{namespace: k.Namespace, name: k.Name, version: w.writes, node: w.IntN(w.spread+2) - 2}
	c.weight = float64(w.IntN(w.spread)) / 2
	c.pair = [2]int{w.IntN(3), c.version % w.spread}
	c.app = []string{"", "web", "db"}[w.IntN(3)]
	tags := w.IntN(6) * w.IntN(2)
	if w.IntN(50) == 0 {
		tags = 40
	}
	for range tags {
		c.tags = append(c.tags, w.IntN(w.spread))
	}
	return c
}

// put notes that an object is there, and returns the event.
func (w *tide) put(c *cell, why index.Reason) index.Event[*cell] {
	k := index.KeyOf(c)
	e := index.Event[*cell]{Type: index.Added, Reason: why, New: c}
	if old := w.state[k]; old != nil {
		e.Type, e.Old = index.Updated, old
	} else {
		w.known = append(w.known, k)
	}
	w.state[k] = c
	return e
}

// apply makes n changes, so many of them at a time and so many of a hundred deletions.
func (w *tide) apply(n, batch, deletions int) {
	batch = max(batch, n/40)
	for ; n > 0; n -= batch {
		var changes []index.Change[*cell]
		var events []index.Event[*cell]
		for range batch {
			if w.IntN(100) >= deletions {
				k := w.key()
				if w.IntN(2) == 0 {
					k = w.likely()
				}
				c := w.cell(*k)
				changes = append(changes, index.Change[*cell]{Object: c, Reason: index.Watched})
				events = append(events, w.put(c, index.Watched))
				continue
			}
			k := w.likely()
			old := w.state[*k]
			change, last := index.Change[*cell]{Delete: true, Reason: index.Watched, Key: k}, old
			if w.IntN(2) == 0 {
				last = w.cell(*k)
				change.Key, change.Object = nil, last
			}
			changes = append(changes, change)
			if old != nil {
				events = append(events, index.Event[*cell]{Type: index.Deleted, Reason: index.Watched, Old: old, New: last})
				delete(w.state, *k)
			}
		}
		require.True(w, slices.Equal(events, w.store.Apply(nil, changes, "")), "other events than those of %d changes", batch)
	}
}

// replace makes a list, of a namespace unless that is nil, of which some objects of a
// hundred are those that were there, as they are or changed. Some are in it twice.
func (w *tide) replace(namespace *string, kept, fresh int) {
	var list []*cell
	within := cells{}
	for k, c := range w.state {
		if namespace != nil && k.Namespace != *namespace {
			continue
		}
		within[k] = c
		if w.IntN(100) < kept {
			if w.IntN(2) == 0 {
				c = w.cell(k)
			}
			list = append(list, c)
			if w.IntN(200) == 0 {
				list = append(list, w.cell(k))
			}
		}
	}
	for range fresh {
		if k := w.key(); namespace == nil || k.Namespace == *namespace {
			list = append(list, w.cell(*k))
		}
	}
	w.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })

	gone := maps.Clone(within)
	for _, c := range list {
		delete(gone, index.KeyOf(c))
	}
	maps.DeleteFunc(w.state, func(k index.Key, _ *cell) bool { return gone[k] != nil })
	var events []index.Event[*cell]
	for _, c := range list {
		events = append(events, w.put(c, index.Relisted))
	}
	var got []index.Event[*cell]
	if namespace == nil {
		got = w.store.Replace(nil, slices.Clone(list), strconv.Itoa(w.writes), index.Relisted)
		require.Equal(w, strconv.Itoa(w.writes), w.store.ResourceVersion())
	} else {
		got = w.store.ReplaceNamespace(nil, *namespace, slices.Clone(list), "", index.Relisted)
	}
	require.Len(w, got, len(gone)+len(events))
	for _, e := range got[:len(gone)] {
		k := e.Key()
		require.Equal(w, index.Event[*cell]{Type: index.Deleted, Reason: index.Relisted, Old: gone[k], New: gone[k]}, e)
		delete(gone, k)
	}
	require.True(w, slices.Equal(events, got[len(got)-len(events):]), "other events than those of a list of %d", len(list))
	w.known = slices.Collect(maps.Keys(w.state))
}

func (w *tide) freeze() frozenTide {
	return frozenTide{w.store.Snapshot(), maps.Clone(w.state), w.tagged}
}

// compare checks that the events of Diff lead from one state to another.
func (w *tide) compare(before, after frozenTide) {
	state := maps.Clone(before.state)
	for e := range index.Diff(before.snapshot, after.snapshot) {
		k := e.Key()
		switch {
		case e.Type == index.Added:
			require.Nil(w, state[k])
			state[k] = e.New
		case e.Type == index.Updated:
			require.Same(w, state[k], e.Old)
			require.NotSame(w, e.Old, e.New)
			state[k] = e.New
		default:
			require.Same(w, state[k], e.Old)
			delete(state, k)
		}
	}
	require.True(w, maps.Equal(state, after.state), "Diff leads to another state")
}

// begin begins a loop.
func (w *tide) begin() {
	var seq iter.Seq[*cell]
	var in func(c *cell) bool
	switch v := w.IntN(w.spread); w.IntN(4) {
	case 0:
		seq, in = w.store.All(), func(*cell) bool { return true }
	case 1:
		seq, in = w.node.All(v), func(c *cell) bool { return c.node == v }
	case 2:
		area := w.key().Namespace
		seq, in = w.store.InNamespace(area), func(c *cell) bool { return c.namespace == area }
	default:
		seq = index.Intersect(w.node.Is(v, v+1), w.pair.Where(func(p [2]int) bool { return p[0] == 1 }))
		in = func(c *cell) bool { return (c.node == v || c.node == v+1) && c.pair[0] == 1 }
	}
	l := &loop{left: where(w.state, in)}
	l.next, l.stop = iter.Pull(seq)
	w.advance(l, 1)
	w.loops = append(w.loops, l)
}

// advance moves a loop by n objects, and reports whether it is over.
func (w *tide) advance(l *loop, n int) bool {
	for range n {
		c, ok := l.next()
		if !ok {
			require.Empty(w, l.left, "a loop leaves objects out")
			return true
		}
		require.True(w, l.left[c], "a loop has %v, which was not there when it was begun, or has it twice", c)
		delete(l.left, c)
	}
	return false
}

func where(state cells, in func(*cell) bool) map[*cell]bool {
	found := map[*cell]bool{}
	for _, c := range state {
		if in(c) {
			found[c] = true
		}
	}
	return found
}
