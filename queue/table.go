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
	partial  int32            // the first page of a list: those with rows and room; noPage if there is none
	empty    int32            // the first page of a list: those without rows
	empties  int              // the length of empty
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
	prev, next int32 // pages in the same list, noPage if there is none
}

const (
	noRow  = int32(-1)
	noPage = int32(-1)
	// keptPages is the number of pages up to which a table keeps its memory.
	keptPages = 16
)

func newTable[K comparable, V any]() table[K, V] {
	return table[K, V]{index: newHashIndex(), partial: noPage, empty: noPage}
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
	page := t.partial
	if page == noPage {
		if page = t.empty; page != noPage {
			t.unlink(&t.empty, page)
			t.empties--
			t.least = min(t.least, t.empties)
		} else {
			page = t.newPage()
		}
		t.link(&t.partial, page)
	}
	p := &t.pages[page]
	n := page*pageSize + int32(p.free) - 1
	p.free = int16(t.row(n).hash)
	if p.used++; p.used == pageSize {
		t.unlink(&t.partial, page)
	}
	return n
}

// freeRow lets go of the key of row n, which is not in the index.
func (t *table[K, V]) freeRow(n int32) {
	page := n / pageSize
	p := &t.pages[page]
	r := t.row(n)
	var none K
	r.key, r.hash = none, uint32(p.free)
	p.free = int16(n%pageSize) + 1
	if p.used == pageSize {
		t.link(&t.partial, page)
	}
	if p.used--; p.used == 0 {
		t.unlink(&t.partial, page)
		t.link(&t.empty, page)
		t.empties++
	}
}

// link puts a page at the head of a list.
func (t *table[K, V]) link(first *int32, page int32) {
	p := &t.pages[page]
	p.prev, p.next = noPage, *first
	if p.next != noPage {
		t.pages[p.next].prev = page
	}
	*first = page
}

// unlink takes a page out of a list.
func (t *table[K, V]) unlink(first *int32, page int32) {
	p := &t.pages[page]
	if p.prev != noPage {
		t.pages[p.prev].next = p.next
	} else {
		*first = p.next
	}
	if p.next != noPage {
		t.pages[p.next].prev = p.prev
	}
}

// newPage makes a page, with a number that no other has.
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

// trimStep is how many pages and buckets are looked at before the lock is given up
// for a moment.
const trimStep = 256

// trim gives back a part of the memory that is not needed, and reports whether
// there is more.
func (t *table[K, V]) trim() bool {
	// The pages with the highest numbers go first, so the list gets shorter.
	t.below = min(t.below, int32(len(t.pages)))
	for last := max(0, t.below-trimStep); t.below > last && t.surplus > 0; {
		t.below--
		if t.rows.pages[t.below] != nil && t.pages[t.below].used == 0 {
			t.surplus--
			t.release(t.below)
		}
	}
	if x := &t.index; t.at < len(x.directory) {
		x.shrink(t.at, t.at+trimStep)
		if t.at += trimStep; t.at >= len(x.directory) && x.depth > 0 && x.halve() {
			t.at = 0
		}
	}
	return t.surplus > 0 && t.below > 0 || t.at < len(t.index.directory)
}

// release drops a page without rows.
func (t *table[K, V]) release(page int32) {
	t.unlink(&t.empty, page)
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
