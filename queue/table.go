package queue

// table finds rows by their keys. It is a hash table with open addressing and
// linear probing, whose slots hold hashes and the numbers of rows. Unlike a Go
// map it is told the hash, which can so be computed before a lock is taken, and
// it allocates nothing once it is large enough.
//
// A row keeps its number until it is deleted. Pointers to rows are valid until
// the next insert.
type table[K comparable, V any] struct {
	slots []slot // a power of two, at most half of them in use
	rows  []row[K, V]
	free  int32 // the row that was deleted last, noRow if none
	len   int
	spare spareRoom
}

// slot refers to a row by its number plus one; 0 means that the slot is empty.
type slot struct {
	hash uint32
	row  int32
}

type row[K comparable, V any] struct {
	key   K
	hash  uint32 // of a deleted row: the number of the one deleted before it
	value V
}

const (
	noRow   = int32(-1)
	minRows = 16
)

func newTable[K comparable, V any]() table[K, V] {
	t := table[K, V]{}
	t.resize(minRows)
	return t
}

// resize makes room for rows, and moves over what there is.
func (t *table[K, V]) resize(rows int) {
	if t.len == 0 {
		t.free = noRow
		t.rows = t.rows[:0]
	}
	t.rows = append(make([]row[K, V], 0, rows), t.rows...)
	old := t.slots
	t.slots = make([]slot, 2*rows)
	mask := uint32(len(t.slots) - 1)
	for _, s := range old {
		if s.row == 0 {
			continue
		}
		i := s.hash & mask
		for t.slots[i].row != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = s
	}
}

// find returns the number of the key's row, noRow if there is none.
func (t *table[K, V]) find(hash uint32, key K) int32 {
	slots := t.slots
	mask := uint32(len(slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := slots[i]
		if s.row == 0 {
			return noRow
		}
		if s.hash == hash && t.rows[s.row-1].key == key {
			return s.row - 1
		}
	}
}

// insert adds a row for a key that has none. Its value is what a deleted row
// has left, at first zero.
func (t *table[K, V]) insert(hash uint32, key K) int32 {
	n := t.free
	if n != noRow {
		t.free = int32(t.rows[n].hash)
	} else {
		if len(t.rows) == cap(t.rows) {
			t.resize(2 * cap(t.rows))
		}
		n = int32(len(t.rows))
		t.rows = t.rows[:n+1]
	}
	r := &t.rows[n]
	r.key, r.hash = key, hash
	t.len++

	slots := t.slots
	mask := uint32(len(slots) - 1)
	i := hash & mask
	for slots[i].row != 0 {
		i = (i + 1) & mask
	}
	slots[i] = slot{hash: hash, row: n + 1}
	return n
}

// delete removes a row and lets go of its key. A table that becomes empty may
// give memory back.
func (t *table[K, V]) delete(n int32) {
	r := &t.rows[n]
	slots := t.slots
	mask := uint32(len(slots) - 1)
	hole := r.hash & mask
	for slots[hole].row != n+1 {
		hole = (hole + 1) & mask
	}
	// What was displaced by the row moves up, so that no mark of it is needed.
	for i := (hole + 1) & mask; slots[i].row != 0; i = (i + 1) & mask {
		if home := slots[i].hash & mask; (i-home)&mask >= (i-hole)&mask {
			slots[hole] = slots[i]
			hole = i
		}
	}
	slots[hole] = slot{}

	var none K
	r.key, r.hash = none, uint32(t.free)
	t.free = n
	t.len--
	if t.len == 0 {
		if size := cap(t.rows); size > minRows && t.spare.isTooMuch(size, len(t.rows)) {
			t.resize(size / 2)
		}
		t.rows = t.rows[:0]
		t.free = noRow
	}
}
