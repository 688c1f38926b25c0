package index

// table maps 32-bit hashes to positions in a vector: open addressing with
// linear probing, and deletion by shifting back instead of tombstones (Knuth,
// The Art of Computer Programming, volume 3, section 6.4, algorithm R). It
// keeps no keys: whoever looks something up compares the key at each position
// that find gives.
//
// A word holds the hash in its upper half and the position plus one in its
// lower half, zero is an empty slot. Eight of them share a cache line, so even
// when the table is as full as it gets, seven eighths, a look-up mostly costs
// one miss.
type table struct {
	words vector[uint64] // its length is zero or a power of two
	used  uint32
}

const minTable = 8

// probe walks the slots of a table in which a hash may be.
type probe struct{ slot, hash uint32 }

func probeFor(hash uint32) probe { return probe{slot: hash, hash: hash} }

// next returns the next position that words, the read side of a table, has
// under the hash, false when there is none left.
func (p *probe) next(words *pages[uint64]) (uint32, bool) {
	if words.n == 0 {
		return 0, false
	}
	mask := words.n - 1
	for {
		word := words.at(p.slot & mask)
		p.slot++
		if word == 0 {
			return 0, false
		}
		if uint32(word>>32) == p.hash {
			return uint32(word) - 1, true
		}
	}
}

func wordOf(hash, pos uint32) uint64 { return uint64(hash)<<32 | uint64(pos+1) }

// insert files pos under hash. The pair must not be there yet.
func (t *table) insert(gen uint64, hash, pos uint32) {
	if (t.used+1)*8 > t.words.n*7 {
		t.resize(gen, max(minTable, t.words.n*2))
	}
	t.place(gen, wordOf(hash, pos))
	t.used++
}

func (t *table) place(gen uint64, word uint64) {
	mask := t.words.n - 1
	slot := uint32(word>>32) & mask
	for t.words.at(slot) != 0 {
		slot = (slot + 1) & mask
	}
	t.words.set(gen, slot, word)
}

// slotOf returns the slot of a pair that is in the table.
func (t *table) slotOf(hash, pos uint32) uint32 {
	mask := t.words.n - 1
	slot := hash & mask
	for word := wordOf(hash, pos); t.words.at(slot) != word; {
		slot = (slot + 1) & mask
	}
	return slot
}

// remove takes out a pair that is in the table.
func (t *table) remove(gen uint64, hash, pos uint32) {
	mask := t.words.n - 1
	hole := t.slotOf(hash, pos)
	for slot := hole; ; {
		slot = (slot + 1) & mask
		word := t.words.at(slot)
		if word == 0 {
			break
		}
		home := uint32(word>>32) & mask
		if (slot-home)&mask >= (slot-hole)&mask {
			t.words.set(gen, hole, word)
			hole = slot
		}
	}
	t.words.set(gen, hole, 0)
	t.used--
	if t.words.n > minTable && t.used*8 < t.words.n {
		t.resize(gen, t.words.n/2)
	}
}

func (t *table) resize(gen uint64, n uint32) {
	old := t.words.pages
	t.words = makeVector[uint64](gen, n)
	for _, page := range old.table {
		for _, word := range page {
			if word != 0 {
				t.place(gen, word)
			}
		}
	}
}
