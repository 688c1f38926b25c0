package index

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestHashTableModel compares a table with a map under hashes that collide as
// often as they can: few of them, at both ends of their buckets, so that runs of
// taken entries grow long and wrap around; with views, and forks that are dropped.
func TestHashTableModel(t *testing.T) { rapid.Check(t, checkHashTable) }

func FuzzHashTable(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkHashTable)) }

type tableModel map[uint32]uint32 // from places to hashes

func (m tableModel) places() []uint32 { return slices.Sorted(maps.Keys(m)) }

func checkHashTable(t *rapid.T) {
	hashes := []uint32{0, 1, 2, 3, 1 << 29, 1 << 30, 1<<31 + 5, 1<<32 - 1, 1<<32 - 2, 1<<32 - 3, 7 << 20}
	type state struct {
		view  buckets[uint32]
		model tableModel
	}
	var gen epoch
	table, next, model := makeHashTable[uint32](&gen, 0), uint32(1), tableModel{}
	var views []state
	insert := func(t *hashTable[uint32], e *epoch, hash, place uint32) {
		t.insert(e, entry[uint32]{hash: hash, place: place, value: ^place})
	}
	t.Repeat(map[string]func(*rapid.T){
		"insert": func(t *rapid.T) {
			for range rapid.IntRange(1, 6).Draw(t, "count") {
				hash := rapid.SampledFrom(hashes).Draw(t, "hash")
				insert(&table, &gen, hash, next)
				model[next] = hash
				next++
			}
		},
		"insert many": func(t *rapid.T) {
			spread := rapid.SampledFrom([]uint32{2654435761, 1, 0}).Draw(t, "spread")
			for range rapid.SampledFrom([]int{1, 60, 700}).Draw(t, "many") {
				insert(&table, &gen, next*spread, next)
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
			views = append(views, state{table.buckets, maps.Clone(model)})
			views = views[max(0, len(views)-3):] // older ones take the test's time
			gen.gen++
		},
		"fork": func(*rapid.T) { // what happens to one that is dropped does not show
			fork, later := table, epoch{gen: gen.gen + 1}
			for i := range uint32(100) {
				insert(&fork, &later, i*2654435761, next+i)
			}
			for i, place := range model.places() {
				if i%3 > 0 {
					fork.remove(&later, model[place], place)
				}
			}
		},
		"": func(t *rapid.T) {
			checkBuckets(t, table.buckets, model)
			for _, v := range views {
				checkBuckets(t, v.view, v.model)
			}
			require.EqualValues(t, len(model), table.used)
			for p, bucket := range table.table {
				require.LessOrEqual(t, int(table.state[p].used)*8, len(bucket)*7, "a look-up needs a free entry to end at")
			}
		},
	})
}

// checkBuckets compares the read side of a table with a model.
func checkBuckets(t require.TestingT, view buckets[uint32], model tableModel) {
	found := tableModel{}
	for e := range view.all() {
		found[e.place] = e.hash
		if e.value != ^e.place {
			require.Fail(t, "wrong value", "of place %d", e.place)
		}
	}
	require.True(t, maps.Equal(model, found), "all")
	for place, hash := range model {
		bucket, ok := view.bucket(hash), false
		for i, n := home(hash, len(bucket)), 0; n < len(bucket) && bucket[i].place != 0 && !ok; i, n = (i+1)%len(bucket), n+1 {
			ok = bucket[i].place == place
		}
		if !ok {
			require.Fail(t, "not found", "place %d under hash %d", place, hash)
		}
	}
}

// TestHashTableWorksInSmallSteps: no insertion or removal among many moves more than
// two buckets and the list of them, and what is left in the end is small.
func TestHashTableWorksInSmallSteps(t *testing.T) {
	const n = 300_000
	var e epoch
	var table hashTable[uint64]
	worst := uint64(0)
	step := func(do func()) {
		before := e.moved
		do()
		worst = max(worst, e.moved-before)
	}
	for i := range uint32(n) {
		step(func() { table.insert(&e, entry[uint64]{hash: i * 2654435761, place: i + 1}) })
	}
	assert.LessOrEqual(t, worst, uint64(4096), "growing")
	slots := 0
	for _, bucket := range table.table {
		slots += len(bucket)
	}
	assert.LessOrEqual(t, slots, n*5/3, "growing leaves not too much free")

	worst = 0
	for i := range uint32(n - 1) {
		step(func() { table.remove(&e, i*2654435761, i+1) })
	}
	assert.LessOrEqual(t, worst, uint64(4096), "shrinking")
	assert.Len(t, table.table, 1)
	assert.LessOrEqual(t, len(table.table[0]), 2*minBucket)
	assert.LessOrEqual(t, cap(table.table), 32)
	last := uint32(n - 1)
	assert.True(t, table.has(last*2654435761))
}
