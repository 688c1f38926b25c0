package view

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGroupsAreInOrder adds rows to groups of any size, few and many at a time, and
// removes some.
func TestGroupsAreInOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		var g group
		next := random.Perm(200)
		var want []uint32
		for len(next) > 0 {
			n := min(1+random.IntN(3*maxInserted), len(next))
			for _, row := range next[:n] {
				g.add(uint32(row))
				want = append(want, uint32(row))
			}
			next = next[n:]
			if gone := random.IntN(len(want)); random.IntN(2) == 0 {
				g.remove(want[gone])
				want = slices.Delete(want, gone, gone+1)
			}
			g.order(cmp.Compare[uint32])
			slices.Sort(want)
			require.Equal(t, want, g.rows)
		}
	}
}
