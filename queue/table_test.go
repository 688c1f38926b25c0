package queue

import (
	"slices"
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
	keys := rapid.IntRange(0, 60)
	t.Repeat(map[string]func(*rapid.T){
		"insert": func(t *rapid.T) {
			key := keys.Draw(t, "key")
			if _, ok := rows[key]; ok {
				return // it is there
			}
			n := table.insert(hash(key), key)
			table.rows[n].value = "of " + string(rune(key))
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
		"": func(t *rapid.T) {
			require.Equal(t, len(rows), table.len)
			for key := range 61 {
				n := table.find(hash(key), key)
				want, ok := rows[key]
				if !ok {
					require.Equal(t, noRow, n, "key %d", key)
					continue
				}
				require.Equal(t, want, n, "the row of key %d stays the same", key)
				require.Equal(t, "of "+string(rune(key)), table.rows[n].value)
			}
		},
	})
}

// TestTableGivesMemoryBack has one burst, then smaller ones.
func TestTableGivesMemoryBack(t *testing.T) {
	table := newTable[int, int]()
	fill := func(size int) {
		var rows []int32
		for key := range size {
			rows = append(rows, table.insert(uint32(key), key))
		}
		for _, n := range slices.Backward(rows) {
			table.delete(n)
		}
	}
	fill(10_000)
	size := cap(table.rows)
	require.GreaterOrEqual(t, size, 10_000)
	for range 10 {
		fill(size/4 + 1)
		for range 4*size/100 - 1 {
			fill(100)
		}
	}
	assert.Equal(t, size, cap(table.rows), "what is needed now and then is kept")
	for range 8 * size / 3 {
		fill(3)
	}
	assert.Equal(t, minRows, cap(table.rows))
	assert.Len(t, table.slots, 2*minRows)
	fill(1000)
}
