package shard

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/sharding"
	"pgregory.net/rapid"
)

// drawMembers draws members that hold some of the ranges, none of them twice.
func drawMembers(t *rapid.T, most int) []holder {
	members := make([]holder, rapid.IntRange(1, most).Draw(t, "members"))
	for i := range members {
		members[i].name = fmt.Sprintf("member-%02d", i)
	}
	few := rapid.IntRange(-1, len(members)-1)
	for r := range rangeCount {
		if i := few.Draw(t, "holder"); i >= 0 {
			members[i].holds.add(uint8(r))
		}
	}
	return members
}

// TestAssignment: all ranges are assigned once, in numbers that differ by at most one,
// whatever the order of the members, and as few of them move as can be.
func TestAssignment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := drawMembers(t, 9)
		result := assign(members)

		var all ranges
		sizes := []int{}
		moved := 0
		for _, m := range members {
			got := result[m.name]
			require.True(t, all.and(got).empty(), "a range is assigned twice")
			all = all.or(got)
			sizes = append(sizes, got.count())
			moved += m.holds.minus(got).count()
		}
		assert.Equal(t, everything, all)
		assert.LessOrEqual(t, slices.Max(sizes)-slices.Min(sizes), 1)
		assert.Equal(t, fewestMoves(members), moved)

		shuffled := rapid.Permutation(members).Draw(t, "order")
		assert.Equal(t, result, assign(shuffled))

		// A second assignment moves nothing.
		for i := range members {
			members[i].holds = result[members[i].name]
		}
		assert.Equal(t, result, assign(members))
	})
}

// fewestMoves tries all ways to say which members get one range more.
func fewestMoves(members []holder) int {
	n, fewest := len(members), rangeCount
	for larger := range 1 << n {
		if bits.OnesCount(uint(larger)) != rangeCount%n {
			continue
		}
		moves := 0
		for i, m := range members {
			moves += max(0, m.holds.count()-rangeCount/n-larger>>i&1)
		}
		fewest = min(fewest, moves)
	}
	return fewest
}

// TestRanges: sets are written and read, and selectors select what the set has, by the
// code of API servers.
func TestRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s ranges
		for _, r := range rapid.SliceOf(rapid.Uint8()).Draw(t, "ranges") {
			s.add(r)
		}
		again, err := parseRanges(s.String())
		require.NoError(t, err)
		assert.Equal(t, s, again)

		value := rapid.String().Draw(t, "value")
		if s.empty() || s == everything {
			return
		}
		for _, term := range terms(s.selector("f")) { // 16 digits, or 17 for the end of all
			assert.Len(t, term[0], 18)
			assert.True(t, len(term[1]) == 18 || term[1] == "0x10000000000000000", term[1])
		}
		hash, in := "0x"+sharding.HashField(value), false
		for _, term := range terms(s.selector("object.metadata.uid")) {
			in = in || !sharding.HexLess(hash, term[0]) && sharding.HexLess(hash, term[1])
		}
		assert.Equal(t, s.has(rangeOf(value)), in, "%s in %s", hash, s.selector("uid"))
	})
	for _, text := range []string{"0", everything.String() + "0", "x" + everything.String()[1:]} {
		_, err := parseRanges(text)
		assert.Error(t, err, text)
	}
	assert.Equal(t, "shardRange(f, '0xfe00000000000000', '0x10000000000000000')", everything.minus(everything.lowest(254)).selector("f"))
}
