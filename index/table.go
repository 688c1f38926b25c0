package index

import "slices"

// entry is a place in a table. Fields that have no size come first, since they would take
// room behind the others.
//
// Tables have two parameters, rather than one that is a struct of both: all types of pointers
// share one GC shape, and structs of them do not. So all types of objects share the code.
type entry[T, X any] struct {
	object T
	text   X // of the object's key
	hash   uint32
	place  uint32 // what the entry is for; 0: the entry is free
}

// table is a small hash table: open addressing with linear probing, and removal that
// moves entries back in place of leaving traces (Knuth, The Art of Computer Programming,
// volume 3, section 6.4, algorithm R).
//
// The invariant that look-ups rely on: on the way from the home of a hash to its entry,
// from each entry to the next one and from the last one to the first, no entry is free.
// A free entry ends the way, and there always is one.
//
// All that a look-up needs of an entry is in the entry, or in its neighbours. Control bytes,
// as in Go's maps, rule out other keys' entries sooner. But then the processor learns which
// entry it needs only after it has read them, and in a large store it is waiting for memory
// that takes the time.
type table[T, X any] struct {
	entries []entry[T, X]
	gen     uint64 // the generation that the table was made in
	used    uint32
	depth   uint8 // so many leading bits are the same in all hashes, see hashTable
}

// home returns where the search for a hash begins. It depends on the leading bits of the
// hash that are not the same in the whole table (the reduction of Lemire, "Fast Random
// Integer Generation in an Interval").
func (t *table[T, X]) home(hash uint32) int {
	return int(uint64(hash<<(t.depth&31)) * uint64(len(t.entries)) >> 32)
}

// next returns the entry after another one.
func (t *table[T, X]) next(i int) int {
	if i++; i < len(t.entries) {
		return i
	}
	return 0
}

// find returns the entry of a place, which is there.
func (t *table[T, X]) find(hash, place uint32) int {
	for i := t.home(hash); ; i = t.next(i) {
		if t.entries[i].place == place {
			return i
		}
	}
}

// has reports whether there is an entry of a hash.
func (t *table[T, X]) has(hash uint32) bool {
	for i := t.home(hash); ; i = t.next(i) {
		switch e := &t.entries[i]; {
		case e.place == 0:
			return false
		case e.hash == hash:
			return true
		}
	}
}

// each calls yield with the entries, until that returns false.
func (t *table[T, X]) each(yield func(*entry[T, X]) bool) bool {
	for i := range t.entries {
		if e := &t.entries[i]; e.place != 0 && !yield(e) {
			return false
		}
	}
	return true
}

// full reports whether one more entry would fill more than four fifths of the table.
func (t *table[T, X]) full() bool { return int(t.used+1)*5 > len(t.entries)*4 }

// sparse reports whether the table should be smaller: a quarter of its entries are taken.
func (t *table[T, X]) sparse() bool {
	return len(t.entries) > 2*leastEntries && int(t.used)*4 < len(t.entries)
}

// leastEntries is the size of the smallest tables.
const leastEntries = 4

// entriesFor returns the number of entries of which n are three quarters.
func entriesFor(n int) int { return max(leastEntries, n+n/3) }

// larger returns the number of entries of a table that is to grow.
func larger(entries int) int { return entries + max(leastEntries, entries/3) }

// newTable returns an empty table. One of the smallest, as most stores and indexes have
// that hold little, is one piece of memory.
func newTable[T, X any](gen uint64, depth uint8, entries int) *table[T, X] {
	if entries == leastEntries {
		made := &struct {
			table table[T, X]
			room  [leastEntries]entry[T, X]
		}{table: table[T, X]{gen: gen, depth: depth}}
		made.table.entries = made.room[:]
		return &made.table
	}
	return &table[T, X]{gen: gen, depth: depth, entries: make([]entry[T, X], entries)}
}

// clone returns a table with the same entries, to be written to in a generation.
func (t *table[T, X]) clone(gen uint64) *table[T, X] {
	return &table[T, X]{gen: gen, depth: t.depth, used: t.used, entries: slices.Clone(t.entries)}
}

// resized returns a table of another size with the same entries.
func (t *table[T, X]) resized(gen uint64, entries int) *table[T, X] {
	r := newTable[T, X](gen, t.depth, entries)
	r.putAll(t)
	return r
}

// putAll stores the entries of another table. There must be room for them.
func (t *table[T, X]) putAll(of *table[T, X]) {
	of.each(func(e *entry[T, X]) bool {
		t.put(e)
		return true
	})
}

// put stores an entry in a table that is new. There must be room for it.
func (t *table[T, X]) put(added *entry[T, X]) {
	t.entries[t.free(added.hash)] = *added
	t.used++
}

// free returns where an entry of a hash is to be stored.
func (t *table[T, X]) free(hash uint32) int {
	i := t.home(hash)
	for t.entries[i].place != 0 {
		i = t.next(i)
	}
	return i
}

// remove takes out the entry of a place, which is there.
func (t *table[T, X]) remove(e *epoch, hash, place uint32) {
	t.used--
	hole := t.find(hash, place)
	for i := t.next(hole); t.entries[i].place != 0; i = t.next(i) {
		// An entry that has passed the hole on its way may do so no longer.
		if t.distance(t.home(t.entries[i].hash), i) >= t.distance(hole, i) {
			t.store(e, hole, &t.entries[i])
			hole = i
		}
	}
	t.clear(e, hole)
}

// distance returns how many steps it is from one entry to another.
func (t *table[T, X]) distance(from, to int) int {
	if to < from {
		to += len(t.entries)
	}
	return to - from
}

// halves returns two tables with the entries of a table, by the bit of their hashes
// after those that all of them have in common.
func (t *table[T, X]) halves(gen uint64) (halves [2]*table[T, X]) {
	var count [2]int
	bit := 31 - t.depth
	t.each(func(e *entry[T, X]) bool {
		count[e.hash>>bit&1]++
		return true
	})
	for i := range halves {
		halves[i] = newTable[T, X](gen, t.depth+1, entriesFor(count[i]))
	}
	t.each(func(e *entry[T, X]) bool {
		halves[e.hash>>bit&1].put(e)
		return true
	})
	return halves
}

// joined returns a table with the entries of two, which halves might have returned.
func joined[T, X any](gen uint64, halves [2]*table[T, X]) *table[T, X] {
	t := newTable[T, X](gen, halves[0].depth-1, entriesFor(int(halves[0].used+halves[1].used)))
	for _, half := range halves {
		t.putAll(half)
	}
	return t
}
