package shard

import (
	"cmp"
	"slices"
)

// holder is what the assignment knows of a member.
type holder struct {
	name     string
	holds    ranges
	prepares ranges // that it has listed, or begun to
}

// assign returns which ranges each member is to have. It depends only on the members and their
// ranges, in whichever order, so all members come to the same result.
//
//   - Every range is assigned to one member; numbers differ by at most one.
//   - No fewer ranges could move: members keep what they hold up to their number, and the
//     larger numbers are for those that hold most.
//   - Ranges that move go to members that prepare them. Of the others, each member gets
//     neighbours, so that few terms say which ranges it has.
//
// A range that two members claim to hold, which cannot be, is the first one's.
func assign(members []holder) map[string]ranges {
	if len(members) == 0 {
		return nil
	}
	order := slices.SortedFunc(slices.Values(members), func(a, b holder) int {
		return cmp.Or(cmp.Compare(b.holds.count(), a.holds.count()), cmp.Compare(a.name, b.name))
	})
	free := everything
	result := make(map[string]ranges, len(order))
	number := func(i int) int {
		if i < rangeCount%len(order) {
			return rangeCount/len(order) + 1
		}
		return rangeCount / len(order)
	}
	for i, m := range order {
		kept := m.holds.and(free).lowest(number(i))
		result[m.name] = kept
		free = free.minus(kept)
	}
	for i, m := range order {
		more := m.prepares.and(free).lowest(number(i) - result[m.name].count())
		result[m.name] = result[m.name].or(more)
		free = free.minus(more)
	}
	for i, m := range order {
		more := free.lowest(number(i) - result[m.name].count())
		result[m.name] = result[m.name].or(more)
		free = free.minus(more)
	}
	return result
}
