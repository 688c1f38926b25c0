// Package shrink gives back the memory of maps, which Go's never do themselves.
package shrink

import "maps"

// Kept is the number of keys up to which the memory for them is kept.
const Kept = 1024

// Map returns m after a key was deleted from it, or a smaller one with the same keys if it
// has had more than four times as many: most is how many it has had, and belongs to the map.
// It costs a look at two numbers, and over many deletions less than one assignment each.
func Map[K comparable, V any](m map[K]V, most *int) map[K]V {
	if *most = max(*most, len(m)+1); *most <= Kept || len(m) >= *most/4 {
		return m
	}
	*most = len(m)
	kept := make(map[K]V, len(m))
	maps.Copy(kept, m)
	return kept
}
