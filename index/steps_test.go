package index

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// underLock returns how many elements were copied or moved while readers waited.
func (x *Indexer[T]) underLock() uint64 {
	moved := x.objectsEpoch.moved + x.keysEpoch.moved + x.namespaces.moved()
	for _, index := range x.indexes {
		moved += index.moved()
	}
	return moved
}

func numbered(from, n int) []named {
	objs := make([]named, n)
	for i := range objs {
		objs[i] = named(fmt.Sprint("n", from+i))
	}
	return objs
}

func changesOf(objs []named, deletion bool) []Change[named] {
	changes := make([]Change[named], len(objs))
	for i, obj := range objs {
		changes[i] = Change[named]{Object: obj, Delete: deletion}
	}
	return changes
}

// TestReadersWaitForSmallSteps bounds what is done while readers wait, in elements
// that are copied or moved, whatever the writer does and however much is there. A
// million elements take about 5 ms, and so 50,000 of them a quarter of one.
func TestReadersWaitForSmallSteps(t *testing.T) {
	const inOneStep = 50_000
	n := objectsOf(30_000, 100_000)
	one := Single("one", func(n named) (string, bool) { return string(n), true })
	some := New("some", func(n named) []int { return []int{len(n), int(n[len(n)-1]), int(n[len(n)-2])} })
	store := NewIndexer[named]()
	require.NoError(t, store.AddIndexes(one, some))
	step := func(name string, most uint64, write func()) {
		before := store.underLock()
		write()
		require.LessOrEqual(t, store.underLock()-before, most, name)
	}
	all := numbered(0, n)
	for from := 0; from < n; from += 100 {
		step("growth", inOneStep, func() { store.Apply(nil, changesOf(all[from:from+100], false), "") })
	}
	step("a relist", 0, func() { store.Replace(nil, all, "", Relisted) })
	step("many changes", 0, func() { store.Apply(nil, changesOf(all, false), "") })
	step("others", 0, func() { store.Replace(nil, numbered(n, n), "", Relisted) })
	step("none", 0, func() { store.Replace(nil, nil, "", Relisted) })
	step("a first list", 0, func() { store.Replace(nil, all, "", Relisted) })
	step("a namespace", 0, func() { store.ReplaceNamespace(nil, "ns", all[:n/2], "", Relisted) })
	store.Replace(nil, all, "", Relisted)
	for from := 0; from < n; from += 100 {
		step("deletions", inOneStep, func() { store.Apply(nil, changesOf(all[from:from+100], true), "") })
	}
	require.Zero(t, store.Len())
}

// TestManyChangesInPlace: more changes than usual are made in place if most of them move and
// copy nothing, and otherwise to a fork; what readers wait for is bounded in any case.
func TestManyChangesInPlace(t *testing.T) {
	const n, some = 100_000, maxInPlace / 2
	all := numbered(0, n)
	store := NewIndexer[named]()
	store.Replace(nil, all, "", Initial)
	forked := func(changes []Change[named]) bool {
		moved, table := store.underLock(), &store.objects.gens[0]
		events := store.Apply(nil, changes, "")
		require.Len(t, events, len(changes))
		isFork := &store.objects.gens[0] != table
		if isFork {
			assert.Equal(t, moved, store.underLock())
		}
		return isFork
	}
	updates := changesOf(all[:maxCheap], false)
	assert.False(t, forked(updates), "updates")
	assert.True(t, forked(changesOf(all[:maxCheap+1], false)), "more of them")
	assert.False(t, forked(updates), "updates after a fork, which has pages of its own")
	before := store.Snapshot()
	assert.True(t, forked(updates), "a reader has a snapshot")
	assert.True(t, forked(changesOf(all[n-maxCheap:], false)), "a reader has these pages")
	assert.Equal(t, n, before.Len())
	assert.True(t, forked(updates), "pages from before the last fork")
	others := numbered(n, maxInPlace+1)
	assert.False(t, forked(append(slices.Clip(updates[some:]), changesOf(others[:some], false)...)), "some additions")
	assert.False(t, forked(append(slices.Clip(updates[some:]), changesOf(others[:some], true)...)), "some deletions")
	assert.True(t, forked(append(slices.Clip(updates[len(others):]), changesOf(others, false)...)), "additions")
	assert.True(t, forked(append(slices.Clip(updates[len(others):]), changesOf(others, true)...)), "deletions")
	require.NoError(t, store.AddIndexes(Single("one", func(n named) (string, bool) { return string(n), true })))
	assert.True(t, forked(updates), "an index")
	assert.Equal(t, n, store.Len())
}

// TestViewDuringChanges: a reader that takes a view from a callback of a write does not wait for
// the copies that this makes necessary.
func TestViewDuringChanges(t *testing.T) {
	all := numbered(0, 10_000)
	var store *Indexer[named]
	var taken *Snapshot[named]
	store = NewIndexer(WithRecreated(func(named, named) bool {
		if taken == nil {
			taken = store.Snapshot()
		}
		return false
	}))
	store.Replace(nil, all, "1", Initial)
	before := store.underLock()
	require.Len(t, store.Apply(nil, changesOf(all[:maxCheap], false), "2"), maxCheap)
	require.NotNil(t, taken)
	assert.Equal(t, before, store.underLock())
	assert.Equal(t, "1", taken.ResourceVersion())
	assert.Equal(t, "2", store.ResourceVersion())
}

// TestMemoryAfterDeletion deletes nearly all objects, by changes, with indexes of every kind: the
// store then takes little more memory than one that was never larger.
func TestMemoryAfterDeletion(t *testing.T) {
	const left = 1000
	n := objectsOf(40_000, 100_000)
	indexes := func() []Definition[named] {
		return []Definition[named]{
			Single("one", func(n named) (string, bool) { return string(n), true }),
			New("some", func(n named) []string { return []string{string(n[:len(n)-1]), string(n[:2]), "all"} }),
		}
	}
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	all := numbered(0, n)
	kept := all[:left]
	store, fresh := NewIndexer[named](), NewIndexer[named]()
	require.NoError(t, store.AddIndexes(indexes()...))
	require.NoError(t, fresh.AddIndexes(indexes()...))
	base := heap()
	fresh.Replace(nil, kept, "1", Initial)
	small := heap() - base
	store.Replace(nil, all, "1", Initial)
	full := heap() - base - small
	for from := left; from < n; from += 300 {
		store.Apply(nil, changesOf(all[from:from+300], true), "")
	}
	shrunk := heap() - base - small
	t.Logf("%d B with %d objects, %d B with %d left, %d B in a fresh store", full, n, shrunk, left, small)
	assert.Less(t, shrunk, full/20)
	assert.Less(t, shrunk, 4*small)
	entries := 0
	for _, in := range store.keys.list {
		entries += len(in.entries)
	}
	assert.LessOrEqual(t, entries, 5*left, "Keys walks what is there")
	assert.LessOrEqual(t, int(store.indexes[0].(*Index[string, named]).posts.posts.n), 5*left+pageSize, "so does an index")
	require.Equal(t, left, store.Len())
	runtime.KeepAlive(fresh)
	runtime.KeepAlive(all)
}

type label string

type pairOfStrings struct {
	_    int
	a    string
	b    [2]label
	also struct{ c string }
}

// TestKeysAreCopied: strings in keys, and namespaces, are not parts of others.
func TestKeysAreCopied(t *testing.T) {
	body := strings.Repeat("x", 100)
	at := func(i int) string { return body[i : i+1] }
	key := pairOfStrings{a: at(1), b: [2]label{label(at(2)), label(at(3))}}
	key.also.c = at(4)
	got := clonerOf[pairOfStrings]().clone(key)
	assert.Equal(t, key, got)
	for _, copied := range []string{got.a, string(got.b[0]), string(got.b[1]), got.also.c} {
		assert.False(t, within(copied, body))
	}
	assert.Equal(t, 7, clonerOf[int]().clone(7))

	names := New("names", func(n named) []label { return []label{label(n)} })
	store := NewIndexer[inBody]()
	inNamespace := Single("namespace of", func(o inBody) (string, bool) { return o.namespace, true })
	require.NoError(t, store.AddIndexes(inNamespace))
	store.Replace(nil, []inBody{{at(5), at(6)}, {at(7), at(8)}}, "1", Initial)
	store.Apply(nil, []Change[inBody]{{Object: inBody{body[:2], body[:3]}}}, "2")
	others := NewIndexer[named]()
	require.NoError(t, others.AddIndexes(names))
	others.Apply(nil, []Change[named]{{Object: named(at(9))}}, "")
	for key := range store.Keys() {
		assert.False(t, within(key.Name, body) || within(key.Namespace, body), key)
	}
	for key := range inNamespace.Keys() {
		assert.False(t, within(key, body))
	}
	for key := range names.Keys() {
		assert.False(t, within(string(key), body))
	}
}

// inBody is an object of parts of a text.
type inBody struct{ namespace, name string }

func (o inBody) GetName() string      { return o.name }
func (o inBody) GetNamespace() string { return o.namespace }

func within(s, body string) bool {
	from := uintptr(unsafe.Pointer(unsafe.StringData(body)))
	at := uintptr(unsafe.Pointer(unsafe.StringData(s)))
	return at >= from && at < from+uintptr(len(body))
}

// TestBytesOfAUniqueIndex: a key of an index that no other object has costs little
// more than the key.
func TestBytesOfAUniqueIndex(t *testing.T) {
	const n = 100_000
	store := NewIndexer[named]()
	store.Replace(nil, numbered(0, n), "1", Initial)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&before)
	require.NoError(t, store.AddIndexes(Single("one", func(n named) (string, bool) { return string(n), true })))
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	size := (after.HeapAlloc - before.HeapAlloc) / n
	t.Logf("%d B for each object", size)
	assert.Less(t, size, uint64(90), "16 of them are the bytes of the key")
	runtime.KeepAlive(store)
}
