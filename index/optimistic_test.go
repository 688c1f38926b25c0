package index

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// versioned is an object of which a test writes one version after another.
type versioned struct {
	name    string
	version int
}

func (v *versioned) GetName() string    { return v.name }
func (*versioned) GetNamespace() string { return "ns" }
func (v *versioned) Version() int       { return v.version }

// hasVersion is the type of objects of a store that knows them by an interface.
type hasVersion interface {
	Object
	Version() int
}

// TestGetTakesNoLock reads while the lock is taken for something other than a write.
func TestGetTakesNoLock(t *testing.T) {
	t.Run("pointers", func(t *testing.T) { checkGetTakesNoLock[*versioned](t) })
	t.Run("interfaces", func(t *testing.T) { checkGetTakesNoLock[hasVersion](t) })
	t.Run("strings", func(t *testing.T) {
		store := NewIndexer[named]()
		store.Apply(nil, []Change[named]{{Object: "a"}}, "1")
		_, _, _, sure := store.optimistic.find(store.hasher.key(Key{"ns", "a"}))
		assert.False(t, sure, "a string cannot be read atomically")
		found, ok := store.Get(Key{"ns", "a"})
		assert.True(t, ok)
		assert.EqualValues(t, "a", found)
	})
}

func checkGetTakesNoLock[T hasVersion](t *testing.T) {
	for _, opts := range [][]Option[T]{nil, {WithKeyStrings[T]()}} {
		store := NewIndexer(opts...)
		hashes := map[uint32]bool{} // of keys with the same one, one takes the lock
		var names []string
		for i := range 5000 { // in many tables
			name := fmt.Sprint(i)
			if hash := store.hashOf(Key{"ns", name}); !hashes[hash] {
				hashes[hash] = true
				names = append(names, name)
			}
		}
		absent := names[0]
		names = names[1:]
		for i, name := range names {
			store.Apply(nil, []Change[T]{{Object: any(&versioned{name, i}).(T)}}, "1")
		}
		store.mu.Lock()
		late := time.AfterFunc(20*time.Second, func() {
			t.Error("a read waits for the lock")
			store.mu.Unlock()
		})
		defer late.Stop()
		for i, name := range names {
			obj, ok := store.Get(Key{"ns", name})
			require.True(t, ok)
			require.Equal(t, i, obj.Version())
			_, ok = store.GetByKeyString("ns/" + name)
			require.True(t, ok)
		}
		_, ok := store.Get(Key{"ns", absent})
		require.False(t, ok)
		if late.Stop() {
			store.mu.Unlock()
		}
	}
}

// TestNothingIsSureDuringAWrite: a read during a write may mix two states.
func TestNothingIsSureDuringAWrite(t *testing.T) {
	store := NewIndexer[*versioned]()
	key := Key{"ns", "a"}
	hash := store.hasher.key(key)
	sure := func() bool {
		_, _, _, sure := store.optimistic.find(hash)
		return sure
	}
	require.False(t, sure(), "an empty store")
	store.Apply(nil, []Change[*versioned]{{Object: &versioned{name: "a"}}}, "1")
	require.True(t, sure())
	before := store.optimistic.writes.Load()
	in := store.optimistic.table(before, hash)
	require.NotNil(t, in)
	surely := func() bool {
		_, _, _, sure := store.optimistic.read(before, in.search(hash))
		require.Equal(t, sure, store.optimistic.table(before, hash) != nil)
		return sure
	}
	require.True(t, surely())
	store.lock(true)
	require.False(t, sure(), "a write has begun")
	require.False(t, surely(), "a write has begun since")
	store.unlock(true)
	require.True(t, sure())
	require.False(t, surely(), "a write has ended since")
	store.Release()
	require.False(t, sure(), "a released store")
}

// TestTablesOfAnEndedWrite: a reader that loads an even count loads the tables of the last write,
// also at the moment when that write ends.
func TestTablesOfAnEndedWrite(t *testing.T) {
	store := NewIndexer[*versioned]()
	o := &store.optimistic
	var over atomic.Bool
	wrong := make(chan int)
	go func() {
		n := 0
		for !over.Load() {
			writes, list := o.writes.Load(), o.list.Load()
			stored := writes%4 == 2 // every other write removes the object
			if writes%2 == 0 && o.writes.Load() == writes && (list != nil) != stored {
				n++
			}
		}
		wrong <- n
	}()
	for i := range 100_000 {
		store.Apply(nil, []Change[*versioned]{{Object: &versioned{name: "a"}, Delete: i%2 == 1}}, "")
	}
	over.Store(true)
	assert.Zero(t, <-wrong)
}

// TestWritesAreCounted: readers notice every write, except those of one word, which they cannot
// see half done.
func TestWritesAreCounted(t *testing.T) {
	t.Run("pointers", func(t *testing.T) { checkWritesAreCounted[*versioned](t, 0) })
	t.Run("interfaces", func(t *testing.T) { checkWritesAreCounted[hasVersion](t, 2) })
}

func checkWritesAreCounted[T hasVersion](t *testing.T, update uint64) {
	store := NewIndexer[T]()
	object := func(version int) T { return any(&versioned{"a", version}).(T) }
	for _, write := range []struct {
		name  string
		count uint64
		do    func()
		found int
	}{
		{"add", 2, func() { store.Apply(nil, []Change[T]{{Object: object(1)}}, "") }, 1},
		{"update", update, func() { store.Apply(nil, []Change[T]{{Object: object(2)}}, "") }, 2},
		{"update after a snapshot", update, func() {
			store.Snapshot()
			store.Apply(nil, []Change[T]{{Object: object(3)}}, "")
		}, 3},
		{"several updates", 2, func() { store.Apply(nil, []Change[T]{{Object: object(4)}, {Object: object(5)}}, "") }, 5},
		{"delete", 2, func() { store.Apply(nil, []Change[T]{{Object: object(6), Delete: true}}, "") }, 0},
		{"replace", 2, func() { store.Replace(nil, []T{object(7)}, "", Relisted) }, 7},
		{"version", 0, func() { store.SetResourceVersion("8") }, 7},
		{"release", 2, store.Release, 0},
	} {
		before := store.optimistic.writes.Load()
		write.do()
		require.Equal(t, write.count, store.optimistic.writes.Load()-before, write.name)
		if write.name != "release" {
			obj, ok := store.Get(Key{"ns", "a"})
			require.Equal(t, write.found > 0, ok, write.name)
			if ok {
				require.Equal(t, write.found, obj.Version(), write.name)
			}
		}
	}
}

// TestFreeEntriesKeepNoMemory: an entry that becomes free lets its object and its key be freed.
func TestFreeEntriesKeepNoMemory(t *testing.T) {
	t.Run("pointers", func(t *testing.T) { checkFreeEntries[*versioned](t) })
	t.Run("interfaces", func(t *testing.T) { checkFreeEntries[hasVersion](t) })
}

func checkFreeEntries[T hasVersion](t *testing.T) {
	store := NewIndexer[T]()
	for _, remove := range []bool{false, true} {
		for i := range 9 {
			obj := any(&versioned{name: fmt.Sprint(i)}).(T)
			store.Apply(nil, []Change[T]{{Object: obj, Delete: remove && i > 0}}, "")
		}
	}
	require.Equal(t, 1, store.Len())
	var none T
	for _, in := range store.keys.list {
		for _, e := range in.entries {
			if e.place == 0 {
				require.Equal(t, none, e.object)
				require.Zero(t, e.text.data)
			}
		}
	}
}

// TestSearchOfAnEndlessWay: a reader that sees a table half written does not look for ever.
func TestSearchOfAnEndlessWay(t *testing.T) {
	in := newTable[*versioned, keyText](0, 0, leastEntries)
	for i := range in.entries {
		in.entries[i] = entry[*versioned, keyText]{hash: 1, place: uint32(i + 1)}
	}
	assert.NotNil(t, in.search(1))
	assert.Nil(t, in.search(2))
}

// TestGetOfKeysWithOneHash: a key is compared, not its hash alone.
func TestGetOfKeysWithOneHash(t *testing.T) {
	for _, opts := range [][]Option[*versioned]{nil, {WithKeyStrings[*versioned]()}} {
		store := NewIndexer(opts...)
		names := map[uint32]string{}
		for i := 0; ; i++ { // until two names have the same hash, which takes about 80,000
			name := fmt.Sprint(i)
			hash := store.hashOf(Key{"ns", name})
			other, ok := names[hash]
			names[hash] = name
			if !ok {
				continue
			}
			for n, name := range []string{other, name} {
				_, ok := store.Get(Key{"ns", name})
				require.False(t, ok)
				store.Apply(nil, []Change[*versioned]{{Object: &versioned{name, n}}}, "")
			}
			for n, name := range []string{other, name} {
				obj, ok := store.Get(Key{"ns", name})
				require.True(t, ok)
				require.Equal(t, n, obj.version)
			}
			break
		}
	}
}

// TestReadersOfOneKey reads by keys without pause while a writer does all that it can: each
// object is the one of its key, none is older than one that the same reader has seen, and an
// object that was written before another one, or together with it, is not older.
func TestReadersOfOneKey(t *testing.T) {
	t.Run("pointers", func(t *testing.T) { checkReadersOfOneKey[*versioned](t) })
	t.Run("interfaces", func(t *testing.T) { checkReadersOfOneKey[hasVersion](t) })
}

// The objects of the test: pairs stay, one of each is written before the other or in one write
// with it; others come and go.
const pairsOfKeys, otherKeys = 20, 200

func firstOf(pair int) string  { return fmt.Sprint("first-", pair) }
func secondOf(pair int) string { return fmt.Sprint("second-", pair) }
func otherName(i int) string   { return fmt.Sprint("other-", i) }

func checkReadersOfOneKey[T hasVersion](t *testing.T) {
	store := NewIndexer[T]()
	object := func(name string, version int) T { return any(&versioned{name, version}).(T) }
	for pair := range pairsOfKeys {
		store.Apply(nil, []Change[T]{{Object: object(firstOf(pair), 0)}, {Object: object(secondOf(pair), 0)}}, "")
	}
	var over atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			r := keyReader[T]{store: store, seen: map[string]int{}}
			for !over.Load() && r.err == nil {
				r.readSome()
				runtime.Gosched()
			}
			assert.NoError(t, r.err)
		})
	}
	w := keyWriter[T]{store: store, object: object}
	for w.version = 1; w.version < 2000; w.version++ {
		w.writeSome()
	}
	over.Store(true)
	readers.Wait()
}

type keyWriter[T hasVersion] struct {
	store   *Indexer[T]
	object  func(name string, version int) T
	version int
	others  int
}

func (w *keyWriter[T]) writeSome() {
	pair := rand.IntN(pairsOfKeys)
	first, second := Change[T]{Object: w.object(firstOf(pair), w.version)}, Change[T]{Object: w.object(secondOf(pair), w.version)}
	switch rand.IntN(8) {
	case 0:
		w.store.Apply(nil, []Change[T]{first}, "")
		w.store.Apply(nil, []Change[T]{second}, "")
	case 1:
		w.store.Snapshot() // the next write copies what it changes
	case 2: // in a fork
		w.store.Replace(nil, append(w.store.List(), first.Object, second.Object), "", Relisted)
	case 3:
		w.growOrShrink()
	default:
		changes := []Change[T]{second}
		for i := range w.others {
			changes = append(changes, Change[T]{Object: w.object(otherName(i), w.version)})
		}
		w.store.Apply(nil, append(changes, first), "")
	}
}

// growOrShrink adds or removes other objects, few at a time and each of them in place.
func (w *keyWriter[T]) growOrShrink() {
	grow := w.others < otherKeys/10 || w.others < otherKeys && rand.IntN(2) == 0
	for range otherKeys / 10 {
		if grow {
			w.store.Apply(nil, []Change[T]{{Object: w.object(otherName(w.others), w.version)}}, "")
			w.others++
		} else if w.others > 0 {
			w.others--
			w.store.Apply(nil, []Change[T]{{Object: w.object(otherName(w.others), w.version), Delete: true}}, "")
		}
	}
}

type keyReader[T hasVersion] struct {
	store *Indexer[T]
	seen  map[string]int // the latest versions by name
	err   error
}

func (r *keyReader[T]) readSome() {
	pair := rand.IntN(pairsOfKeys)
	second := r.get(secondOf(pair), true)
	if first := r.get(firstOf(pair), true); first < second {
		r.err = fmt.Errorf("pair %d: %d was read after %d, which was not written before it", pair, first, second)
	}
	r.get(otherName(rand.IntN(otherKeys)), false)
	r.get(otherName(otherKeys+pair), false)
}

// get returns the version of the object of a name, which stays if stays is set.
func (r *keyReader[T]) get(name string, stays bool) (version int) {
	obj, ok := r.store.Get(Key{"ns", name})
	switch {
	case !ok && stays:
		r.err = fmt.Errorf("%s is not found", name)
	case !ok:
	case obj.GetName() != name:
		r.err = fmt.Errorf("%s is found for %s", obj.GetName(), name)
	case stays && obj.Version() < r.seen[name]:
		r.err = fmt.Errorf("%s: version %d after %d", name, obj.Version(), r.seen[name])
	default:
		version = obj.Version()
		r.seen[name] = version
	}
	return version
}
