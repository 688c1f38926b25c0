package view

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestRowSet compares sets with maps, of few rows and of so many that they have places.
func TestRowSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var set rowSet
		rows := map[uint32]bool{}
		largest := rapid.SampledFrom([]uint32{2, 5, 3 * maxSearched}).Draw(t, "largest")
		for row := range rapid.Uint32Range(0, largest).Draw(t, "at first") {
			set.add(row)
			rows[row] = true
		}
		for range rapid.IntRange(0, 100).Draw(t, "changes") {
			row := rapid.Uint32Range(0, largest).Draw(t, "row")
			require.Equal(t, rows[row], set.has(row))
			if rows[row] || rapid.Bool().Draw(t, "remove") {
				set.remove(row)
				delete(rows, row)
			} else {
				set.add(row)
				rows[row] = true
			}
			require.Equal(t, len(rows), set.len())
		}
		set.each(func(row uint32) {
			require.True(t, rows[row])
			set.remove(row)
			delete(rows, row)
		})
		require.Empty(t, rows)
		require.Zero(t, set.len())
	})
}
