package index

import (
	"slices"
	"sync/atomic"
	"unsafe"
)

// tables is the read side of a hashTable. A copy of the struct is a view, as with
// pages.
type tables[T, X any] struct {
	list  []*table[T, X] // by the leading bits of hashes; one table may be there several times in a row
	shift uint8          // how far to shift a hash right to get those bits
}

// table returns the table in which entries of a hash are, nil if there are none.
func (t *tables[T, X]) table(hash uint32) *table[T, X] {
	i := uint64(hash) >> (t.shift & 63)
	if i >= uint64(len(t.list)) {
		return nil
	}
	return t.list[i]
}

// each calls yield with the entries, until that returns false.
func (t *tables[T, X]) each(yield func(*entry[T, X]) bool) {
	var before *table[T, X]
	for _, table := range t.list {
		if table != before && !table.each(yield) {
			return
		}
		before = table
	}
}

// has reports whether there is an entry of a hash.
func (t *tables[T, X]) has(hash uint32) bool {
	in := t.table(hash)
	return in != nil && in.has(hash)
}

// The size at which a table is split rather than made larger, and the number of entries
// up to which two are joined. Entries with pointers take 32 bytes: 511 of them and what
// the allocator adds are 16 KiB.
const (
	maxEntries = 511
	maxJoined  = 96
)

// entriesInTable is the number of entries for which a list of tables may be twice as
// long: it bounds what hashes that are alike in many of their bits can do.
const entriesInTable = 32

// hashTable finds entries by 32-bit hashes. It is extendible hashing (Fagin,
// Nievergelt, Pippenger and Strong, 1979) over small tables: the leading bits of a hash
// select its table. A table that is full is split in two by one more bit, whatever the
// others have in them, and two that were split are joined when they have become nearly
// empty; so no write moves more than two tables of entries, however many there are. A
// table is the unit that is copied before it is written to, as a vector's page.
//
// The table compares no keys: callers compare them in the entries that have the hash.
type hashTable[T, X any] struct {
	tables[T, X]
	listGen uint64 // the generation that list was made in
	used    uint32
	deepest uint32 // number of tables that are in the list once
}

// depth returns how many leading bits select a table.
func (t *hashTable[T, X]) depth() uint8 { return 32 - t.shift }

// owned reports whether a write to an entry with this hash copies nothing.
func (t *hashTable[T, X]) owned(e *epoch, hash uint32) bool { return t.table(hash).gen == e.gen }

// own returns the table of a hash, copied first if a reader may hold it.
func (t *hashTable[T, X]) own(e *epoch, hash uint32) *table[T, X] {
	in := t.table(hash)
	if in.gen != e.gen {
		in = in.clone(e.gen)
		e.moved += uint64(in.used)
		t.replace(e, hash, in)
	}
	return in
}

// replace puts a table where another one with the same hashes is.
func (t *hashTable[T, X]) replace(e *epoch, hash uint32, by *table[T, X]) {
	t.ownList(e)
	span := 1 << (t.depth() - by.depth) // of places that are the same table's
	from := int(uint64(hash)>>t.shift) &^ (span - 1)
	for i := range span {
		atomic.StorePointer((*unsafe.Pointer)(unsafe.Pointer(&t.list[from+i])), unsafe.Pointer(by))
	}
}

func (t *hashTable[T, X]) ownList(e *epoch) {
	if t.listGen != e.gen {
		t.list, t.listGen = slices.Clone(t.list), e.gen
		e.moved += uint64(len(t.list))
	}
}

// setObject replaces the object of a place, which is there.
func (t *hashTable[T, X]) setObject(e *epoch, hash, place uint32, obj T) {
	in := t.own(e, hash)
	if to := &in.entries[in.find(hash, place)].object; e.lockFree {
		storeObject(to, obj)
	} else {
		*to = obj
	}
}

// setPlace replaces a place, which is there, by another one.
func (t *hashTable[T, X]) setPlace(e *epoch, hash, place, by uint32) {
	in := t.own(e, hash)
	atomic.StoreUint32(&in.entries[in.find(hash, place)].place, by)
}

// insert adds an entry, whose place must not be there yet under its hash.
func (t *hashTable[T, X]) insert(e *epoch, added entry[T, X]) {
	if len(t.list) == 0 {
		*t = makeHashTable[T, X](e, 1)
	}
	for t.table(added.hash).full() {
		t.grow(e, added.hash)
	}
	in := t.own(e, added.hash)
	in.store(e, in.free(added.hash), &added)
	in.used++
	t.used++
}

// grow makes the table of a hash larger, or splits it.
func (t *hashTable[T, X]) grow(e *epoch, hash uint32) {
	in := t.table(hash)
	e.moved += uint64(in.used)
	if len(in.entries) < maxEntries || in.depth == t.depth() && !t.deepen(e) {
		t.replace(e, hash, in.resized(e.gen, larger(len(in.entries))))
		return
	}
	halves := in.halves(e.gen)
	if halves[0].depth == t.depth() {
		t.deepest += 2
	}
	bit := uint32(1) << (31 - in.depth)
	t.replace(e, hash&^bit, halves[0])
	t.replace(e, hash|bit, halves[1])
}

// deepen has one more bit select a table, unless there are too many tables for the
// entries already. It reports whether it has.
func (t *hashTable[T, X]) deepen(e *epoch) bool {
	if 2*len(t.list)*entriesInTable > int(t.used) {
		return false
	}
	longer := make([]*table[T, X], 0, 2*len(t.list))
	for _, in := range t.list {
		longer = append(longer, in, in)
	}
	e.moved += uint64(len(t.list))
	t.list, t.listGen, t.deepest = longer, e.gen, 0
	t.shift--
	return true
}

// remove takes out the entry of a place, which is there.
func (t *hashTable[T, X]) remove(e *epoch, hash, place uint32) {
	if t.used--; t.used == 0 {
		*t = hashTable[T, X]{}
		return
	}
	in := t.own(e, hash)
	in.remove(e, hash, place)
	if in.sparse() {
		e.moved += uint64(in.used)
		in = in.resized(e.gen, entriesFor(int(in.used)))
		t.replace(e, hash, in)
	}
	if in.used <= maxJoined/2 && in.depth > 0 {
		t.join(e, hash, in)
	}
}

// join makes the table of a hash and the one that it was split from one, if both are
// nearly empty.
func (t *hashTable[T, X]) join(e *epoch, hash uint32, in *table[T, X]) {
	other := t.table(hash ^ 1<<(32-in.depth))
	if other.depth != in.depth || in.used+other.used > maxJoined {
		return
	}
	e.moved += uint64(in.used + other.used)
	if in.depth == t.depth() {
		t.deepest -= 2
	}
	t.replace(e, hash, joined(e.gen, [2]*table[T, X]{in, other}))
	for t.deepest == 0 && len(t.list) > 1 {
		t.flatten(e)
	}
}

// flatten selects tables by one bit less: no two tables differ by that bit alone.
func (t *hashTable[T, X]) flatten(e *epoch) {
	t.shift++
	shorter := make([]*table[T, X], 0, len(t.list)/2)
	for i := 0; i < len(t.list); i += 2 {
		shorter = append(shorter, t.list[i])
		if t.list[i].depth == t.depth() {
			t.deepest++
		}
	}
	e.moved += uint64(len(t.list))
	t.list, t.listGen = shorter, e.gen
}

// makeHashTable returns an empty table with room for n entries.
func makeHashTable[T, X any](e *epoch, n int) hashTable[T, X] {
	t := hashTable[T, X]{listGen: e.gen}
	if n == 0 {
		return t
	}
	depth := uint8(0)
	for entriesFor(n>>depth) > maxEntries*7/8 {
		depth++
	}
	entries := entriesFor(n >> depth)
	if depth > 0 {
		entries += entries / 16 // some get more than others
	}
	t.list, t.shift = make([]*table[T, X], 1<<depth), 32-depth
	for i := range t.list {
		t.list[i] = newTable[T, X](e.gen, depth, entries)
	}
	if depth > 0 {
		t.deepest = 1 << depth
	}
	return t
}
