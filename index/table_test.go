package index

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestTableModel compares a table with a map under hashes that collide as
// often as they can: few of them, at both ends of the table, so that runs of
// taken slots grow long and wrap around.
func TestTableModel(t *testing.T) { rapid.Check(t, checkTable) }

func FuzzTable(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkTable)) }

func checkTable(t *rapid.T) {
	hashes := []uint32{0, 1, 2, 5, 6, 7, 8, 15, 16, 1<<32 - 1, 1<<32 - 2, 7 << 20}
	type state struct {
		words pages[uint64]
		model map[uint32]uint32 // from positions to hashes
	}
	var (
		table table
		gen   uint64
		next  uint32
		model = map[uint32]uint32{}
		views []state
	)
	draw := func(t *rapid.T) uint32 {
		have := make([]uint32, 0, len(model))
		for pos := range model {
			have = append(have, pos)
		}
		slices.Sort(have)
		return rapid.SampledFrom(have).Draw(t, "position")
	}
	check := func(words pages[uint64], model map[uint32]uint32) {
		for _, hash := range append(hashes, 3, 1<<31) {
			var want, got []uint32
			for pos, h := range model {
				if h == hash {
					want = append(want, pos)
				}
			}
			p := probeFor(hash)
			for pos, ok := p.next(&words); ok; pos, ok = p.next(&words) {
				got = append(got, pos)
			}
			require.ElementsMatch(t, want, got, "hash %d", hash)
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"insert": func(t *rapid.T) {
			for range rapid.IntRange(1, 6).Draw(t, "count") {
				hash := rapid.SampledFrom(hashes).Draw(t, "hash")
				table.insert(gen, hash, next)
				model[next] = hash
				next++
			}
		},
		"remove": func(t *rapid.T) {
			for range rapid.IntRange(0, min(6, len(model))).Draw(t, "count") {
				pos := draw(t)
				table.remove(gen, model[pos], pos)
				delete(model, pos)
			}
		},
		"view": func(*rapid.T) {
			copied := map[uint32]uint32{}
			for pos, hash := range model {
				copied[pos] = hash
			}
			views = append(views, state{table.words.pages, copied})
			gen++
		},
		"": func(*rapid.T) {
			check(table.words.pages, model)
			for _, v := range views {
				check(v.words, v.model)
			}
			require.EqualValues(t, len(model), table.used)
			require.LessOrEqual(t, table.used*8, table.words.n*7, "a look-up needs an empty slot to end at")
		},
	})
}

// TestTableShrinks holds the memory of a table to a multiple of what is in it.
func TestTableShrinks(t *testing.T) {
	var table table
	const n = 20_000
	for pos := range uint32(n) {
		table.insert(0, pos*2654435761, pos)
	}
	require.LessOrEqual(t, table.words.n, uint32(n*8/3))
	for pos := range uint32(n - 1) {
		table.remove(0, pos*2654435761, pos)
	}
	require.EqualValues(t, minTable, table.words.n)

	last := uint32(n - 1)
	p := probeFor(last * 2654435761)
	pos, ok := p.next(&table.words.pages)
	require.True(t, ok)
	require.Equal(t, last, pos)
}
