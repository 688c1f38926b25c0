package index

import (
	"maps"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestHashTableModel compares a table with a map under hashes that collide as often as
// they can: few of them, at both ends of their tables, so that ways through full tables
// grow long and go around; with views, and forks that are dropped.
func TestHashTableModel(t *testing.T) { rapid.Check(t, checkHashTable) }

func FuzzHashTable(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkHashTable)) }

type tableModel map[uint32]uint32 // from places to hashes

func (m tableModel) places() []uint32 { return slices.Sorted(maps.Keys(m)) }

// tableState is a view of a table, and its expected contents.
type tableState struct {
	view  tables[uint32, struct{}]
	model tableModel
}

func insertPlace(t *hashTable[uint32, struct{}], e *epoch, hash, place uint32) {
	t.insert(e, entry[uint32, struct{}]{hash: hash, place: place, object: ^place})
}

func checkHashTable(t *rapid.T) {
	hashes := []uint32{0, 1, 2, 3, 1 << 29, 1 << 30, 1<<31 + 5, 1<<32 - 1, 1<<32 - 2, 1<<32 - 3, 7 << 20}
	var gen epoch
	table, next, model := makeHashTable[uint32, struct{}](&gen, 0), uint32(1), tableModel{}
	var views []tableState
	t.Repeat(map[string]func(*rapid.T){
		"insert": func(t *rapid.T) {
			for range rapid.IntRange(1, 6).Draw(t, "count") {
				hash := rapid.SampledFrom(hashes).Draw(t, "hash")
				insertPlace(&table, &gen, hash, next)
				model[next] = hash
				next++
			}
		},
		"insert many": func(t *rapid.T) {
			spread := rapid.SampledFrom([]uint32{2654435761, 1 << 7, 1, 0}).Draw(t, "spread")
			for range rapid.SampledFrom([]int{1, 60, 700}).Draw(t, "many") {
				insertPlace(&table, &gen, next*spread, next)
				model[next] = next * spread
				next++
				if next%200 == 0 {
					spread = 2654435761 // no more of one hash than that
				}
			}
		},
		"remove": func(t *rapid.T) {
			places := model.places()
			first := rapid.IntRange(0, len(places)).Draw(t, "first")
			count := rapid.SampledFrom([]int{1, 6, 500, 3000}).Draw(t, "count")
			for _, place := range places[first:min(first+count, len(places))] {
				table.remove(&gen, model[place], place)
				delete(model, place)
			}
		},
		"view": func(*rapid.T) {
			views = append(views, tableState{table.tables, maps.Clone(model)})
			views = views[max(0, len(views)-3):] // older ones take the test's time
			gen.gen++
		},
		"fork": func(*rapid.T) { // what happens to one that is dropped does not show
			fork, later := table, epoch{gen: gen.gen + 1}
			for i := range uint32(100) {
				insertPlace(&fork, &later, i*2654435761, next+i)
			}
			for i, place := range model.places() {
				if i%3 > 0 {
					fork.remove(&later, model[place], place)
				}
			}
		},
		"": func(t *rapid.T) {
			checkTables(t, table.tables, model)
			for _, v := range views {
				checkTables(t, v.view, v.model)
			}
			checkInvariants(t, &table)
			require.EqualValues(t, len(model), table.used)
		},
	})
}

// checkTables compares the read side of a table with a model.
func checkTables(t require.TestingT, view tables[uint32, struct{}], model tableModel) {
	found := tableModel{}
	for e := range view.each {
		found[e.place] = e.hash
		if e.object != ^e.place {
			require.Fail(t, "wrong value", "of place %d", e.place)
		}
	}
	require.True(t, maps.Equal(model, found), "all")
	for place, hash := range model {
		in := view.table(hash)
		if !in.has(hash) {
			require.Fail(t, "not found", "hash %d", hash)
		}
		if in.entries[in.find(hash, place)].hash != hash {
			require.Fail(t, "not found", "place %d under hash %d", place, hash)
		}
	}
}

// checkInvariants checks what the comments of table and hashTable say of each table, and
// of their list.
func checkInvariants(t require.TestingT, h *hashTable[uint32, struct{}]) {
	require.Equal(t, len(h.list), 1<<h.depth()*min(1, len(h.list)))
	deepest, used, from := uint32(0), uint32(0), 0
	for from < len(h.list) {
		in := h.list[from]
		span := 1 << (h.depth() - in.depth)
		require.Zero(t, from%span, "where a table begins")
		for _, same := range h.list[from : from+span] {
			require.Same(t, in, same)
		}
		if span == 1 {
			deepest++
		}
		used += in.used
		checkTable(t, in, uint32(from)<<h.shift)
		from += span
	}
	require.Equal(t, h.used, used)
	if len(h.list) > 1 {
		require.Equal(t, h.deepest, deepest)
		require.NotZero(t, deepest, "a bit of hashes tells none apart")
	}
}

// checkTable checks a table in which all hashes begin with some bits.
func checkTable(t require.TestingT, in *table[uint32, struct{}], begin uint32) {
	taken := 0
	require.Less(t, int(in.used), len(in.entries), "a look-up needs a free entry to end at")
	for i, e := range in.entries {
		if e.place == 0 {
			require.Zero(t, e, "a free entry")
			continue
		}
		taken++
		if (e.hash^begin)>>1>>(31-in.depth) != 0 {
			require.Fail(t, "hash in another table")
		}
		for at := in.home(e.hash); at != i; at = in.next(at) {
			if in.entries[at].place == 0 {
				require.Fail(t, "a way through a free entry")
			}
		}
	}
	require.EqualValues(t, in.used, taken)
}

// TestHashTableWorksInSmallSteps: each of many insertions and removals moves at most two tables and
// the list of them, and the table is small in the end.
func TestHashTableWorksInSmallSteps(t *testing.T) {
	const n = 100_000
	var e epoch
	var table hashTable[uint64, struct{}]
	worst := uint64(0)
	step := func(do func()) {
		before := e.moved
		do()
		worst = max(worst, e.moved-before)
	}
	room := func() (entries int) {
		for _, in := range slices.Compact(slices.Clone(table.list)) {
			entries += len(in.entries)
		}
		return entries
	}
	for i := range uint32(n) {
		step(func() { table.insert(&e, entry[uint64, struct{}]{hash: i * 2654435761, place: i + 1}) })
		if i > 1000 && i&(i-1) == 0 {
			assert.LessOrEqual(t, room(), int(i)*5/3, "growing leaves not too much free")
		}
	}
	assert.LessOrEqual(t, worst, uint64(maxEntries+len(table.list)), "growing")
	assert.LessOrEqual(t, room(), n*5/3, "growing leaves not too much free")

	worst = 0
	for i := range uint32(n - 1) {
		step(func() { table.remove(&e, i*2654435761, i+1) })
	}
	assert.LessOrEqual(t, worst, uint64(4096), "shrinking")
	assert.Len(t, table.list, 1)
	assert.LessOrEqual(t, room(), 2*leastEntries)
	last := uint32(n - 1)
	assert.True(t, table.has(last*2654435761))
}

// TestHashTableOfAlikeHashes: hashes that no table can distinguish do not make the list of tables
// longer than the number of objects.
func TestHashTableOfAlikeHashes(t *testing.T) {
	var e epoch
	var table hashTable[struct{}, struct{}]
	for i := range uint32(2000) {
		table.insert(&e, entry[struct{}, struct{}]{hash: 1<<31 | i&1, place: i + 1})
		require.LessOrEqual(t, len(table.list)*entriesInTable, max(entriesInTable, int(i)+1))
	}
	for i := range uint32(1999) {
		table.remove(&e, 1<<31|i&1, i+1)
	}
	assert.Len(t, table.list, 1)
	assert.True(t, table.has(1<<31|1))
	assert.False(t, table.has(1<<31))
}

// TestHashTableCopiesOnlyWrittenTables shows the price of a view: the tables that are
// written to afterwards, each once, and the list of them.
func TestHashTableCopiesOnlyWrittenTables(t *testing.T) {
	const n = 5000
	var e epoch
	table := makeHashTable[uint32, struct{}](&e, n)
	for i := range uint32(n) {
		insertPlace(&table, &e, i*2654435761, i+1)
	}
	view, list := table.tables, &table.list[0]
	table.setObject(&e, 2654435761, 2, 7)
	require.Same(t, list, &table.list[0], "the same generation writes in place")

	e.share()
	e.begin()
	before := e.moved
	require.False(t, table.owned(&e, 2654435761))
	table.setObject(&e, 2654435761, 2, 8)
	require.True(t, table.owned(&e, 2654435761))
	changed, others := 0, 0
	for i := range table.list {
		if table.list[i] == view.list[i] {
			others++
		} else {
			changed++
		}
	}
	assert.Equal(t, 1, changed)
	assert.Equal(t, len(view.list)-1, others)
	assert.EqualValues(t, int(table.table(2654435761).used)+len(view.list), e.moved-before)
	in := view.table(2654435761)
	assert.EqualValues(t, 7, in.entries[in.find(2654435761, 2)].object)

	own := table.table(2654435761)
	table.setObject(&e, 2654435761, 2, 9)
	assert.Same(t, own, table.table(2654435761), "a table is copied once in a generation")
}

// TestEntrySize: what has no value takes no room for it.
func TestEntrySize(t *testing.T) {
	assert.EqualValues(t, 8, unsafe.Sizeof(entry[struct{}, struct{}]{}))
}
