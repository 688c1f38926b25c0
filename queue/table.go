package queue

// table finds rows by their keys. Unlike a Go map it takes the hash from its
// caller, who can compute it before taking a lock; it allocates nothing while it
// has room; and it gives memory back. No operation takes long, whatever the size
// of the table.
//
// A row keeps its number and its place in memory until it is deleted.
type table[K comparable, V any] struct {
	index hashIndex
	rows  paged[row[K, V]]
	len   int

	pages    []pageState      // of rows
	vacant   int              // pages that were released
	scanFrom int32            // before it, none is
	first    int32            // of the list of pages with room, in which those without rows come last; noPage if there is none
	last     int32            // of the same list
	empties  int              // pages without rows
	released func(page int32) // is told of pages that are released; may be nil

	least   int   // the least empties since trimming last began
	surplus int   // pages to release
	below   int32 // the pages that are to be looked at have lower numbers
	at      int   // the place in the directory that is to be looked at
}

type row[K comparable, V any] struct {
	key   K
	hash  uint32 // of a free row, the place in its page of the next one, plus one; 0: none
	value V
}

// pageState is what a table knows of a page of rows.
type pageState struct {
	used, free int16 // rows; the place of the first one that is free, plus one
	prev, next int32 // neighbours in the list of pages with room, noPage if there are none
}

const (
	noRow  = int32(-1)
	noPage = int32(-1)
	// keptPages is the number of pages up to which a table keeps its memory.
	keptPages = 16
)

func newTable[K comparable, V any]() table[K, V] {
	return table[K, V]{index: newHashIndex(), first: noPage, last: noPage}
}

// row returns row n.
func (t *table[K, V]) row(n int32) *row[K, V] { return t.rows.at(n) }

// find returns the number of the key's row, noRow if there is none.
func (t *table[K, V]) find(hash uint32, key K) int32 {
	slots := t.index.bucket(hash).slots
	mask := uint32(len(slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := slots[i]
		if s.row == 0 {
			return noRow
		}
		if s.hash == hash && t.rows.at(s.row-1).key == key {
			return s.row - 1
		}
	}
}

// insert adds a row for a key that has none. Its value is what a deleted row has
// left behind, or zero.
func (t *table[K, V]) insert(hash uint32, key K) int32 {
	n := t.takeRow()
	r := t.row(n)
	r.key, r.hash = key, hash
	t.index.insert(hash, n)
	t.len++
	return n
}

// delete removes a row and lets go of its key.
func (t *table[K, V]) delete(n int32) {
	t.index.delete(t.row(n).hash, n)
	t.len--
	t.freeRow(n)
}

// takeRow returns a row that was free.
func (t *table[K, V]) takeRow() int32 {
	page := t.first
	if page == noPage {
		page = t.newPage()
	}
	p := &t.pages[page]
	if p.used == 0 {
		t.empties--
		t.least = min(t.least, t.empties)
	}
	n := page*pageSize + int32(p.free) - 1
	p.free = int16(t.row(n).hash)
	if p.used++; p.used == pageSize {
		t.unlink(page)
	}
	return n
}

// freeRow lets go of the key of row n, which is not in the index.
func (t *table[K, V]) freeRow(n int32) {
	page := int32(uint32(n) / pageSize)
	p := &t.pages[page]
	r := t.row(n)
	var none K
	r.key, r.hash = none, uint32(p.free)
	p.free = int16(uint32(n)%pageSize) + 1
	if p.used == pageSize {
		t.linkFirst(page)
	}
	if p.used--; p.used == 0 {
		t.empties++
		if page != t.last {
			t.unlink(page)
			t.linkLast(page)
		}
	}
}

// linkFirst puts a page at the beginning of the list of those with room.
func (t *table[K, V]) linkFirst(page int32) {
	p := &t.pages[page]
	p.prev, p.next = noPage, t.first
	if p.next != noPage {
		t.pages[p.next].prev = page
	} else {
		t.last = page
	}
	t.first = page
}

// linkLast puts a page at the end of the list of those with room.
func (t *table[K, V]) linkLast(page int32) {
	p := &t.pages[page]
	p.prev, p.next = t.last, noPage
	if p.prev != noPage {
		t.pages[p.prev].next = page
	} else {
		t.first = page
	}
	t.last = page
}

// unlink takes a page out of the list of those with room.
func (t *table[K, V]) unlink(page int32) {
	p := &t.pages[page]
	if p.prev != noPage {
		t.pages[p.prev].next = p.next
	} else {
		t.first = p.next
	}
	if p.next != noPage {
		t.pages[p.next].prev = p.prev
	} else {
		t.last = p.prev
	}
}

// newPage makes a page with room, with a number that no other has.
func (t *table[K, V]) newPage() int32 {
	page := int32(len(t.pages))
	if t.vacant > 0 {
		for t.rows.pages[t.scanFrom] != nil {
			t.scanFrom++
		}
		page = t.scanFrom
		t.vacant--
	} else {
		t.pages = append(t.pages, pageState{})
	}
	t.rows.reserve(page * pageSize)
	for i := range int32(pageSize) {
		t.row(page*pageSize + i).hash = uint32(i+2) % (pageSize + 1)
	}
	t.pages[page] = pageState{free: 1}
	t.linkLast(page)
	t.empties++
	return page
}

// isLarge reports whether the table has more memory than it always keeps.
func (t *table[K, V]) isLarge() bool { return len(t.pages)-t.vacant > keptPages }

// beginTrim decides what memory to give back: what was not needed since the last
// call.
func (t *table[K, V]) beginTrim() {
	t.surplus = max(0, min(t.least, len(t.pages)-t.vacant-keptPages))
	t.below = int32(len(t.pages))
	t.at = 0
	t.least = t.empties
}

// The pages of rows, and the places in the directory, that are looked at before the
// lock is given up for a moment.
const (
	trimPages   = 256
	trimBuckets = 2
)

// trim gives back a part of the memory that is not needed, and reports whether
// there is more.
func (t *table[K, V]) trim() bool {
	// The pages with the highest numbers go first, so the list gets shorter.
	t.below = min(t.below, int32(len(t.pages)))
	for last := max(0, t.below-trimPages); t.below > last && t.surplus > 0; {
		t.below--
		if t.rows.pages[t.below] != nil && t.pages[t.below].used == 0 {
			t.surplus--
			t.release(t.below)
		}
	}
	if x := &t.index; t.at < len(x.directory) {
		x.shrink(t.at, t.at+trimBuckets)
		if t.at += trimBuckets; t.at >= len(x.directory) && x.depth > 0 && x.halve() {
			t.at = 0
		}
	}
	return t.surplus > 0 && t.below > 0 || t.at < len(t.index.directory)
}

// release drops a page without rows.
func (t *table[K, V]) release(page int32) {
	t.unlink(page)
	t.empties--
	t.least = min(t.least, t.empties)
	t.rows.release(page)
	t.vacant++
	t.scanFrom = min(t.scanFrom, page)
	if n := len(t.rows.pages); n < len(t.pages) {
		t.vacant -= len(t.pages) - n
		t.pages = t.pages[:n]
		if cap(t.pages) > 4*n+pageSize {
			t.pages = append(make([]pageState, 0, n), t.pages...)
		}
	}
	if t.released != nil {
		t.released(page)
	}
}
