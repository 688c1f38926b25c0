package index

import "math/bits"

// entry is a place in a table, but for its head. The value comes first, since one without
// a size would take room behind the others.
type entry[V any] struct {
	value V
	hash  uint32
	place uint32 // what the entry is for, never 0
}

// groupSize is the number of entries whose control bytes are looked at together.
const groupSize = 8

// heads are the heads of the entries of a group, and a group the rest of them.
type (
	heads[H any] [groupSize]H
	group[V any] [groupSize]entry[V]
)

// table is a small hash table in groups of eight entries, after the "Swiss tables" of
// Abseil and of Go's own maps. Each entry has a control byte: 0 if it is free, otherwise
// the lowest seven bits of its hash and the bit above them; those of a group are one
// word. So a look-up goes to an entry only if that has most likely what it looks for.
//
// The invariant that look-ups rely on: on the way from the home of a hash to the group
// that has its entry, from each group to the next one and from the last one to the
// first, all groups are full. A group with a free entry ends the way, and there always
// is one. Removal keeps it so by moving entries back (Knuth, The Art of Computer
// Programming, volume 3, section 6.4, algorithm R, for groups), and leaves no traces
// that would have to be cleared away.
//
// Words, heads and groups are apart from each other. A line of the processor's caches has
// the words of 64 entries, and the heads of eight: they are there when the entries are
// not. A head points to what a look-up compares; the processor waits for that and for the
// entry at the same time, not for one after the other.
type table[H, V any] struct {
	words  []uint64
	heads  []heads[H]
	groups []group[V]
	gen    uint64 // the generation that the table was made in
	used   uint32
	depth  uint8 // so many leading bits are the same in all hashes, see hashTable
}

const (
	lowest  = 0x0101010101010101 // the lowest bits of bytes
	highest = 0x8080808080808080 // the highest bits
)

// taken returns a bit in the byte of each entry that is taken.
func taken(word uint64) uint64 { return word & highest }

// free returns a bit in the byte of each entry that is free.
func free(word uint64) uint64 { return ^word & highest }

// matching returns a bit in the byte of each entry that may have a hash, and of no free
// one. It is the search for a zero byte in Warren, Hacker's Delight, section 6-1, which
// may find another one above it: the caller compares hashes.
func matching(word uint64, hash uint32) uint64 {
	differs := word ^ lowest*control(hash)
	return (differs - lowest) &^ differs & highest
}

// first returns the number of the first entry of a set of bits that is not empty.
func first(set uint64) int { return bits.TrailingZeros64(set) >> 3 & (groupSize - 1) }

// control returns the control byte of an entry.
func control(hash uint32) uint64 { return uint64(hash&0x7f | 0x80) }

// home returns the group at which the search for a hash begins. It depends on the
// leading bits of the hash that are not the same in the whole table (the reduction of
// Lemire, "Fast Random Integer Generation in an Interval").
func (t *table[H, V]) home(hash uint32) int {
	return int(uint64(hash<<(t.depth&31)) * uint64(len(t.words)) >> 32)
}

// next returns the group after another one.
func (t *table[H, V]) next(g int) int {
	if g++; g < len(t.words) {
		return g
	}
	return 0
}

// find returns the group and the number of the entry of a place, which is there.
func (t *table[H, V]) find(hash, place uint32) (g, i int) {
	for g = t.home(hash); ; g = t.next(g) {
		for set := matching(t.words[g], hash); set != 0; set &= set - 1 {
			if i = first(set); t.groups[g][i].place == place {
				return g, i
			}
		}
	}
}

// has reports whether there is an entry of a hash.
func (t *table[H, V]) has(hash uint32) bool {
	for g := t.home(hash); ; g = t.next(g) {
		for set := matching(t.words[g], hash); set != 0; set &= set - 1 {
			if t.groups[g][first(set)].hash == hash {
				return true
			}
		}
		if free(t.words[g]) != 0 {
			return false
		}
	}
}

// each calls yield with the entries, until that returns false.
func (t *table[H, V]) each(yield func(*H, *entry[V]) bool) bool {
	for g, word := range t.words {
		for set := taken(word); set != 0; set &= set - 1 {
			i := first(set)
			if !yield(&t.heads[g][i], &t.groups[g][i]) {
				return false
			}
		}
	}
	return true
}

// Of eight entries of a group, seven are taken at most, on average. A table grows by a
// third, and shrinks when a quarter of its entries are taken.
const (
	mostInGroup  = 7
	leastInGroup = 2
)

func (t *table[H, V]) full() bool { return int(t.used) >= len(t.words)*mostInGroup }

// sparse reports whether the table should be smaller.
func (t *table[H, V]) sparse() bool {
	return len(t.words) > 2 && int(t.used) < len(t.words)*leastInGroup
}

// groupsFor returns the number of groups that n entries fill at three quarters, or less
// if they are few.
func groupsFor(n int) int { return n/6 + 1 }

// larger returns the number of groups of a table that is to grow.
func larger(groups int) int { return groups + max(1, groups/3) }

// newTable returns an empty table. One of a single group, as most small stores have, is
// one piece of memory.
func newTable[H, V any](gen uint64, depth uint8, groups int) *table[H, V] {
	if groups == 1 {
		made := &struct {
			table[H, V]
			word  [1]uint64
			head  [1]heads[H]
			group [1]group[V]
		}{table: table[H, V]{gen: gen, depth: depth}}
		made.words, made.heads, made.groups = made.word[:], made.head[:], made.group[:]
		return &made.table
	}
	return &table[H, V]{
		gen: gen, depth: depth,
		words: make([]uint64, groups), heads: make([]heads[H], groups), groups: make([]group[V], groups),
	}
}

// clone returns a table with the same entries, to be written to in a generation.
func (t *table[H, V]) clone(gen uint64) *table[H, V] {
	c := newTable[H, V](gen, t.depth, len(t.words))
	copy(c.words, t.words)
	copy(c.heads, t.heads)
	copy(c.groups, t.groups)
	c.used = t.used
	return c
}

// resized returns a table of another size with the same entries.
func (t *table[H, V]) resized(gen uint64, groups int) *table[H, V] {
	r := newTable[H, V](gen, t.depth, groups)
	r.putAll(t)
	return r
}

// putAll stores the entries of another table. There must be room for them.
func (t *table[H, V]) putAll(of *table[H, V]) {
	of.each(func(head *H, e *entry[V]) bool {
		t.put(*head, e)
		return true
	})
}

// put stores an entry. There must be room for it.
func (t *table[H, V]) put(head H, added *entry[V]) {
	g := t.home(added.hash)
	for free(t.words[g]) == 0 {
		g = t.next(g)
	}
	t.set(g, first(free(t.words[g])), head, added)
	t.used++
}

// set stores an entry in a place that is free.
func (t *table[H, V]) set(g, i int, head H, added *entry[V]) {
	t.words[g] |= control(added.hash) << (8 * i)
	t.heads[g][i], t.groups[g][i] = head, *added
}

// clear makes the place of an entry free.
func (t *table[H, V]) clear(g, i int) {
	t.words[g] &^= 0xff << (8 * i)
	t.heads[g][i], t.groups[g][i] = *new(H), entry[V]{}
}

// remove takes out the entry of a place, which is there.
func (t *table[H, V]) remove(hash, place uint32) {
	g, i := t.find(hash, place)
	t.used--
	wasFull := free(t.words[g]) == 0
	t.clear(g, i)
	if !wasFull {
		return
	}
	// Entries that have passed this group on their way may do so no longer.
	for hole, at := g, t.next(g); at != hole; at = t.next(at) {
		ends := free(t.words[at]) != 0
		if from := t.passing(hole, at); from >= 0 {
			t.set(hole, first(free(t.words[hole])), t.heads[at][from], &t.groups[at][from])
			t.clear(at, from)
			hole = at
		}
		if ends {
			return
		}
	}
}

// passing returns the number of an entry in group at on the way to which group hole is,
// -1 if there is none.
func (t *table[H, V]) passing(hole, at int) int {
	for set := taken(t.words[at]); set != 0; set &= set - 1 {
		i := first(set)
		if t.distance(t.home(t.groups[at][i].hash), at) >= t.distance(hole, at) {
			return i
		}
	}
	return -1
}

// distance returns how many steps it is from one group to another.
func (t *table[H, V]) distance(from, to int) int {
	if to < from {
		to += len(t.words)
	}
	return to - from
}

// halves returns two tables with the entries of a table, by the bit of their hashes
// after those that all of them have in common.
func (t *table[H, V]) halves(gen uint64) (halves [2]*table[H, V]) {
	var count [2]int
	bit := 31 - t.depth
	t.each(func(_ *H, e *entry[V]) bool {
		count[e.hash>>bit&1]++
		return true
	})
	for i := range halves {
		halves[i] = newTable[H, V](gen, t.depth+1, groupsFor(count[i]))
	}
	t.each(func(head *H, e *entry[V]) bool {
		halves[e.hash>>bit&1].put(*head, e)
		return true
	})
	return halves
}

// joined returns a table with the entries of two, which halves might have returned.
func joined[H, V any](gen uint64, halves [2]*table[H, V]) *table[H, V] {
	t := newTable[H, V](gen, halves[0].depth-1, groupsFor(int(halves[0].used+halves[1].used)))
	for _, half := range halves {
		t.putAll(half)
	}
	return t
}
