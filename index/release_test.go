package index_test

import (
	"fmt"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

// reads returns every read of a store that has no error to return, by the words
// that its panic is to name it with.
func reads(store *index.Indexer[*pod], node *index.Index[string, *pod]) map[string]func() {
	return map[string]func(){
		"index: Get: key default/a": func() { store.Get(index.Key{Namespace: "default", Name: "a"}) },
		"index: KeyStrings,":        func() { store.KeyStrings() },
		"index: Chunks,":            func() { drain(store.Chunks()) },
		"index: Len,":               func() { store.Len() },
		"index: List,":              func() { store.List() },
		"index: All,":               func() { drain(store.All()) },
		"index: Keys,":              func() { drain(store.Keys()) },
		`index: Get in index "namespace": key north`: func() { store.ListNamespace("north") },
		`index: All in index "namespace": key north`: func() { drain(store.InNamespace("north")) },
		"index: Candidates,":                         func() { drain(store.Candidates("", nil)) },
		"index: Snapshot,":                           func() { store.Snapshot() },
		`index: Get in index "node": key n1`:         func() { node.Get("n1") },
		`index: All in index "node": key n1`:         func() { drain(node.All("n1")) },
		`index: Len in index "node": key n1`:         func() { node.Len("n1") },
		"index: Keys of an index,":                   func() { drain(node.Keys()) },
		"index: ListKeys of an index,":               func() { node.ListKeys() },
		`index: KeyStrings in index "node": key n1,`: func() { node.KeyStrings("n1") },
		"index: Intersect,":                          func() { drain(index.Intersect(node.Is("n1"))) },
	}
}

func drain[E any](seq iter.Seq[E]) {
	for range seq {
	}
}

// TestReadsOfAReleasedStorePanic: none of them says that there is nothing.
func TestReadsOfAReleasedStorePanic(t *testing.T) {
	node := byNode()
	store := newStore(t, []handle{node, index.Labels[*pod]("app")}, four()...)
	require.NoError(t, store.Err())
	for name, read := range reads(store, node) {
		assert.NotPanics(t, read, name)
	}
	store.Release()
	store.Release()
	require.ErrorIs(t, store.Err(), index.ErrReleased)
	for name, read := range reads(store, node) {
		err := panicOf(read)
		require.ErrorIs(t, err, index.ErrReleased, name)
		assert.ErrorContains(t, err, name)
		assert.ErrorContains(t, err, "objects of type *index_test.pod: the store was released, and reads must end before that")
	}
	assert.Equal(t, "1", store.ResourceVersion())
}

// panicOf returns the error that f panics with, nil if it does not.
func panicOf(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = p.(error)
		}
	}()
	f()
	return nil
}

func TestWritesToAReleasedStoreDoNothing(t *testing.T) {
	calls := 0
	counted := index.Single("counted", func(*pod) (string, bool) { calls++; return "k", true })
	store := newStore(t, []handle{counted}, four()...)
	store.Release()
	calls = 0

	kept := []index.Event[*pod]{{Type: index.Added}}
	assert.Equal(t, kept, store.Apply(kept, put(four()...), "2"))
	assert.Equal(t, kept, store.Replace(kept, four(), "2", index.Relisted))
	assert.Equal(t, kept, store.ReplaceNamespace(kept, "default", four(), "2", index.Relisted))
	store.SetResourceVersion("2")
	err := store.AddIndexes(byNode())
	assert.ErrorIs(t, err, index.ErrReleased)
	assert.ErrorContains(t, err, "*index_test.pod")
	assert.Zero(t, calls)
	assert.Equal(t, "1", store.ResourceVersion())
	assert.ErrorIs(t, store.Err(), index.ErrReleased)
}

// TestRunningReadsOutliveTheRelease: snapshots and loops hold what they read.
func TestRunningReadsOutliveTheRelease(t *testing.T) {
	node := byNode()
	for name := range ranges(t, newStore(t, []handle{node}), node) {
		t.Run(name, func(t *testing.T) {
			node := byNode()
			store := newStore(t, []handle{node, index.Labels[*pod]("app")}, four()...)
			snapshot, seq := store.Snapshot(), ranges(t, store, node)[name]
			want, got := 0, 0
			for range seq {
				want++
			}
			for range seq {
				if got++; got == 1 {
					store.Release()
				}
			}
			assert.Equal(t, want, got)
			assert.NoError(t, snapshot.Err())
			assert.Len(t, snapshot.List(), 4)
			assert.Len(t, node.In(snapshot).Get("n1"), 2)
		})
	}
}

// TestReleasedObjectsAreLetGo: a released store frees its objects, even if it and its indexes are
// still held.
func TestReleasedObjectsAreLetGo(t *testing.T) {
	node := byNode()
	store := newStore(t, []handle{node, byAddress()})
	p := weak.Make(storeOne(store))
	store.Release()
	runtime.GC()
	assert.Nil(t, p.Value())
	runtime.KeepAlive(store)
	runtime.KeepAlive(node)
}

// TestReleaseBesideReaders: a read finds all or panics.
func TestReleaseBesideReaders(t *testing.T) {
	node := byNode()
	store := newStore(t, []handle{node}, four()...)
	key := index.KeyOf(four()[0])
	failed := make(chan error, 3)
	begun := make(chan struct{}, 3)
	for name, read := range map[string]func() int{
		"list":  func() int { return len(store.List()) },
		"index": func() int { return 2 * len(node.Get("n1")) },
		"get": func() int {
			_, ok := store.Get(key)
			return map[bool]int{true: 4}[ok]
		},
	} {
		go func() {
			var found int
			for first := true; ; first = false {
				if err := panicOf(func() { found = read() }); err != nil {
					failed <- err
					return
				}
				if found != 4 {
					failed <- fmt.Errorf("%s found %d objects", name, found)
					return
				}
				if first {
					begun <- struct{}{}
				}
			}
		}()
	}
	for range cap(begun) {
		<-begun
	}
	store.Release()
	for range cap(failed) {
		assert.ErrorIs(t, <-failed, index.ErrReleased)
	}
}

// TestLookupsWhileAnIndexMoves: a look-up that has found the index with one indexer reads nothing
// of it while another fills it.
func TestLookupsWhileAnIndexMoves(t *testing.T) {
	a, b := index.NewIndexer[*pod](), index.NewIndexer[*pod]()
	var objs []*pod
	for i := range 64 {
		objs = append(objs, &pod{namespace: "ns", name: fmt.Sprint(i), node: fmt.Sprint(i % 7)})
	}
	a.Apply(nil, put(objs...), "1")
	b.Apply(nil, put(objs...), "1")
	x := byNode()
	var stop atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for !stop.Load() {
				func() {
					defer func() {
						if p := recover(); p != nil {
							assert.ErrorIs(t, p.(error), index.ErrNotAdded)
						}
					}()
					x.Get("1")
				}()
			}
		})
	}
	for range 200 {
		for _, to := range []*index.Indexer[*pod]{a, b} {
			require.NoError(t, to.AddIndexes(x))
			to.RemoveIndexes(x)
		}
	}
	stop.Store(true)
	readers.Wait()
}
