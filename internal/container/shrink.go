// Package container provides a list and a heap whose elements are parts of the values in them, so
// that a value knows its place and is taken out without a search, and nothing is allocated; and
// maps that give memory back, which Go's never do themselves.
package container

import "maps"

// KeptKeys is the number of keys up to which the memory for them is kept.
const KeptKeys = 1024

// ShrinkMap returns m after a key was deleted from it, or a smaller one with the same keys if it
// has had more than four times as many: most is how many it has had, and belongs to the map.
// It costs a look at two numbers, and over many deletions less than one assignment each.
func ShrinkMap[K comparable, V any](m map[K]V, most *int) map[K]V {
	if *most = max(*most, len(m)+1); *most <= KeptKeys || len(m) >= *most/4 {
		return m
	}
	*most = len(m)
	kept := make(map[K]V, len(m))
	maps.Copy(kept, m)
	return kept
}

// Need is how much of something was needed, in this period and the one before.
type Need struct{ now, before int }

// Note notes how much is needed now.
func (n *Need) Note(much int) { n.now = max(n.now, much) }

// Look ends a period, when so much is needed.
func (n *Need) Look(much int) { n.before, n.now = n.now, much }

// Lately returns how much was needed at most, in both periods.
func (n *Need) Lately() int { return max(n.now, n.before) }

// Spare holds values that can be used again. Its zero value is empty.
type Spare[T any] []*T

// Get returns one of them, or else a new value.
func (s *Spare[T]) Get() *T {
	last := len(*s) - 1
	if last < 0 {
		return new(T)
	}
	v := (*s)[last]
	*s = (*s)[:last]
	return v
}

// Put keeps a value, unless there are as many as most.
func (s *Spare[T]) Put(v *T, most int) {
	if len(*s) < most {
		*s = append(*s, v)
	}
}
