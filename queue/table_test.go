package queue

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestTableModel compares a table with a map, under hashes that collide, differ
// in bits that do not count, or make probing wrap around.
func TestTableModel(t *testing.T) { rapid.Check(t, checkTable) }

func FuzzTable(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkTable)) }

func checkTable(t *rapid.T) {
	hashes := map[string]func(key int) uint32{
		"all the same": func(int) uint32 { return 5 },
		"few":          func(key int) uint32 { return uint32(key % 3) },
		"at the end":   func(key int) uint32 { return ^uint32(key % 4) },
		"high bits":    func(key int) uint32 { return uint32(key) << 28 },
		"spread":       func(key int) uint32 { return uint32(key) * 2654435761 },
	}
	names := []string{"all the same", "few", "at the end", "high bits", "spread"}
	hash := hashes[rapid.SampledFrom(names).Draw(t, "hashes")]
	table := newTable[int, string]()
	rows := map[int]int32{}
	const most = 300
	keys := rapid.IntRange(0, most)
	t.Repeat(map[string]func(*rapid.T){
		"insert": func(t *rapid.T) {
			key := keys.Draw(t, "key")
			if _, ok := rows[key]; ok {
				return // it is there
			}
			n := table.insert(hash(key), key)
			table.row(n).value = "of " + string(rune(key))
			rows[key] = n
		},
		"delete": func(t *rapid.T) {
			key := keys.Draw(t, "key")
			n, ok := rows[key]
			if !ok {
				return // it is not there
			}
			table.delete(n)
			delete(rows, key)
		},
		"insert many": func(t *rapid.T) {
			from := keys.Draw(t, "from")
			for key := from; key <= min(most, from+rapid.IntRange(0, most).Draw(t, "count")); key++ {
				if _, ok := rows[key]; !ok {
					rows[key] = table.insert(hash(key), key)
					table.row(rows[key]).value = "of " + string(rune(key))
				}
			}
		},
		"delete many": func(t *rapid.T) {
			every := rapid.IntRange(1, 5).Draw(t, "every")
			for key := range most + 1 {
				if n, ok := rows[key]; ok && key%every == 0 {
					table.delete(n)
					delete(rows, key)
				}
			}
		},
		"begin to trim": func(*rapid.T) { table.beginTrim() },
		"trim":          func(*rapid.T) { table.trim() },
		"": func(t *rapid.T) {
			require.Equal(t, len(rows), table.len)
			for key := range most + 1 {
				n := table.find(hash(key), key)
				want, ok := rows[key]
				if !ok {
					require.Equal(t, noRow, n, "key %d", key)
					continue
				}
				require.Equal(t, want, n, "the row of key %d stays the same", key)
				require.Equal(t, "of "+string(rune(key)), table.row(n).value)
			}
		},
	})
}

// TestTableGivesMemoryBack deletes all keys of a burst but one.
func TestTableGivesMemoryBack(t *testing.T) {
	table := newTable[int, int]()
	released := 0
	table.released = func(int32) { released++ }
	const burst = 100_000
	hash := func(key int) uint32 { return uint32(key) * 2654435761 }
	var rows []int32
	for key := range burst {
		rows = append(rows, table.insert(hash(key), key))
	}
	trim := func() (steps int) {
		table.beginTrim()
		for table.trim() {
			steps++
		}
		return steps + 1
	}
	trim()
	full := len(table.pages)
	require.GreaterOrEqual(t, full*pageSize, burst)
	for _, n := range rows[:burst-1] {
		table.delete(n)
	}
	trim()
	assert.Equal(t, full, len(table.pages), "what was needed since the last trim is kept")
	assert.Zero(t, released)

	steps := trim()
	assert.Equal(t, keptPages, len(table.pages)-table.vacant)
	assert.Equal(t, full-keptPages, released)
	assert.Len(t, table.index.directory, 1)
	assert.Len(t, table.index.directory[0].slots, minSlots)
	assert.Greater(t, steps, full/trimPages, "it is done in steps")
	assert.Equal(t, 1, trim())

	last := burst - 1
	assert.Equal(t, rows[last], table.find(hash(last), last))
	table.delete(rows[last])
	for key := range burst {
		table.insert(hash(key), key)
	}
	assert.Zero(t, table.vacant, "numbers of released pages are used again")
	for key := range burst {
		require.NotEqual(t, noRow, table.find(hash(key), key))
	}
	for key := range burst {
		table.delete(table.find(hash(key), key))
	}
	trim()
	trim()
	assert.LessOrEqual(t, cap(table.pages), 8*keptPages, "the list of pages is short again")
}

// TestTableGrowsInSteps looks at what one insert does.
func TestTableGrowsInSteps(t *testing.T) {
	table := newTable[int, int]()
	for key := range 100_000 {
		depth, pages := table.index.depth, len(table.pages)
		table.insert(uint32(key)*2654435761, key)
		require.LessOrEqual(t, table.index.depth-depth, uint8(1))
		require.LessOrEqual(t, len(table.pages)-pages, 1)
	}
	for _, b := range table.index.directory {
		require.LessOrEqual(t, len(b.slots), maxSlots)
		require.LessOrEqual(t, 2*b.used, len(b.slots))
	}
	assert.LessOrEqual(t, len(table.index.directory), 100_000/16)
}

// TestTableWithEqualHashes has more keys of one hash than a bucket has room for.
func TestTableWithEqualHashes(t *testing.T) {
	table := newTable[int, int]()
	for key := range 5000 {
		table.insert(7, key)
	}
	assert.LessOrEqual(t, len(table.index.directory), 5000/8, "the directory stays short")
	for key := range 5000 {
		require.NotEqual(t, noRow, table.find(7, key))
	}
	require.Equal(t, noRow, table.find(7, 5000))
	require.Equal(t, noRow, table.find(8, 0))
}
