package index_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/kubetyped/informer/index"
)

// TestFirstListAppearsAtOnce fills an empty store, again and again, while readers of every kind
// run: they see all of the list or nothing.
func TestFirstListAppearsAtOnce(t *testing.T) {
	const pairs, lists = 300, 60
	w := &twins{pairs: pairs, node: byNode(), half: byAddress()}
	w.store = newStore(t, []handle{w.node, w.half})
	list := func(version int) (objs []*pod) {
		for id := range pairs {
			objs = append(objs, pair(id, version)...)
		}
		return objs
	}
	readers := map[string]func() (found int, err error){
		"all":       func() (int, error) { return w.some(w.store.All(), 2) },
		"namespace": func() (int, error) { return w.some(w.store.InNamespace("default"), 2) },
		"index":     func() (int, error) { return w.some(w.node.All("n0"), 1) },
		"join":      func() (int, error) { return w.some(index.Intersect(w.node.Is("n0", "n1"), w.half.Is("left")), 1) },
		"snapshot": func() (int, error) {
			s := w.store.Snapshot()
			found, err := w.some(s.All(), 2)
			if len := w.node.In(s).Len("n1"); err == nil && 2*len != found {
				err = fmt.Errorf("%d objects, %d of them on a node", found, len)
			}
			return found, err
		},
	}
	ctx, stop := context.WithCancel(t.Context())
	group, ctx := errgroup.WithContext(ctx)
	for name, read := range readers {
		group.Go(func() error {
			for ctx.Err() == nil {
				if _, err := read(); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			return nil
		})
	}
	for version := range lists {
		events := w.store.Replace(nil, list(version), fmt.Sprint(version), index.Initial)
		require.Len(t, events, 2*pairs)
		for name, read := range readers {
			found, err := read()
			require.NoError(t, err, name)
			require.Positive(t, found, name)
		}
		w.store.Replace(nil, nil, "", index.Relisted)
	}
	stop()
	require.NoError(t, group.Wait())
}

// TestFirstListAfterReaders: what readers took of the empty store does not make the
// next writes copy the pages of the list.
func TestFirstListAfterReaders(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	node := byNode()
	store := newStore(t, []handle{node})
	for range 2 {
		store.SetResourceVersion("1")
		store.Snapshot()
		require.Zero(t, store.Len())
	}
	before := store.Snapshot()
	list := make([]*pod, 5000)
	for i := range list {
		list[i] = &pod{namespace: "default", name: fmt.Sprint("p", i), node: "n0"}
	}
	store.Replace(nil, list, "1", index.Initial)

	changes := put(&pod{namespace: "default", name: "p2500", node: "n1"})
	events := make([]index.Event[*pod], 0, 1)
	var started, ended runtime.MemStats
	runtime.ReadMemStats(&started)
	events = store.Apply(events, changes, "2")
	runtime.ReadMemStats(&ended)
	require.Equal(t, index.Updated, events[0].Type)
	assert.Less(t, ended.TotalAlloc-started.TotalAlloc, uint64(4<<10), "a page has 8 KiB")
	assert.Zero(t, before.Len())
	assert.Zero(t, node.In(before).Len("n0"))
	assert.Equal(t, len(list)-1, node.Len("n0"))
}

// TestPanicInTheFirstList: if an index function panics over one of many objects, the store stays
// empty, and accepts the next list.
func TestPanicInTheFirstList(t *testing.T) {
	node := byNode()
	broken := index.Single("broken", func(p *pod) (string, bool) {
		if p.version == 0 {
			panic("no version")
		}
		return p.name, true
	})
	store := newStore(t, []handle{node, broken})
	list := make([]*pod, 100)
	for i := range list {
		list[i] = &pod{name: fmt.Sprint(i), node: "n1", version: 99 - i}
	}
	require.PanicsWithValue(t, "no version", func() { store.Replace(nil, list, "2", index.Initial) })
	check(t, model{}, store)
	assert.Empty(t, node.Get("n1"))
	assert.Equal(t, "1", store.ResourceVersion())

	require.Len(t, store.Replace(nil, list[:99], "3", index.Initial), 99)
	assert.Equal(t, 99, node.Len("n1"))
	assert.Equal(t, list[42:43], broken.Get("42"))
}
