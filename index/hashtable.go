package index

import (
	"iter"
	"math/bits"
	"slices"
)

// entry is a place in a hashTable.
type entry[V any] struct {
	hash  uint32
	place uint32 // what the entry is for, plus one or never 0; 0: the entry is free
	value V
}

// buckets is the read side of a hashTable. A copy of the struct is a view, as with
// pages.
type buckets[V any] struct {
	table [][]entry[V]
	mask  uint32 // the least power of two that is not below the number of buckets, minus one
}

// bucket returns the entries among which those of a hash are, nil if there are none.
func (b *buckets[V]) bucket(hash uint32) []entry[V] {
	p := hash & b.mask
	if p >= uint32(len(b.table)) {
		p &= b.mask >> 1
		if len(b.table) == 0 {
			return nil
		}
	}
	return b.table[p]
}

// home returns the place in a bucket of size entries at which the search for a hash
// begins. It depends on the upper bits of the hash, as the bucket does on the lower
// ones (the reduction of Lemire, "Fast Random Integer Generation in an Interval").
func home(hash uint32, size int) int { return int(uint64(hash) * uint64(size) >> 32) }

// all ranges over the entries that are taken.
func (b buckets[V]) all() iter.Seq[*entry[V]] {
	return func(yield func(*entry[V]) bool) {
		for _, bucket := range b.table {
			for i := range bucket {
				if e := &bucket[i]; e.place != 0 && !yield(e) {
					return
				}
			}
		}
	}
}

// The number of entries of a bucket, on average, at which there comes one more
// bucket, and at which there is one less.
const (
	splitLoad = 512
	mergeLoad = 128
	minBucket = 8
)

// hashTable finds entries by 32-bit hashes. It is linear hashing (Litwin, 1980): to
// grow, it splits one bucket in two, and to shrink, it joins two, always the next
// ones in order; so no write moves more than two buckets of entries, however many
// there are. A bucket is an open-addressing table of its own, with linear probing and
// deletion by shifting back (Knuth, The Art of Computer Programming, volume 3,
// section 6.4, algorithm R), at most three quarters full. It is the unit that is
// copied before it is written to, as a vector's page.
//
// The table compares no keys: whoever looks something up compares them in the
// entries of the bucket from home on, until a free one.
type hashTable[V any] struct {
	buckets[V]
	state    []bucketState // of each bucket
	tableGen uint64        // the generation that table and state were made in
	used     uint32
}

type bucketState struct {
	gen  uint64 // the generation that the bucket was made in
	used uint32
}

// index returns the number of the bucket of a hash.
func (t *hashTable[V]) index(hash uint32) uint32 {
	p := hash & t.mask
	if p >= uint32(len(t.table)) {
		p &= t.mask >> 1
	}
	return p
}

// own returns bucket p, copied first if a reader may hold it.
func (t *hashTable[V]) own(e *epoch, p uint32) []entry[V] {
	if t.state[p].gen != e.gen {
		t.ownTable(e)
		t.table[p] = slices.Clone(t.table[p])
		t.state[p].gen = e.gen
		e.moved += uint64(len(t.table[p]))
	}
	return t.table[p]
}

// owned reports whether a write to an entry with this hash copies nothing.
func (t *hashTable[V]) owned(e *epoch, hash uint32) bool { return t.state[t.index(hash)].gen == e.gen }

func (t *hashTable[V]) ownTable(e *epoch) {
	if t.tableGen != e.gen {
		t.table, t.state = slices.Clone(t.table), slices.Clone(t.state)
		t.tableGen = e.gen
		e.moved += uint64(len(t.table))
	}
}

// change returns the entry of a place, which is there, to be written to at once.
// Its hash must stay.
func (t *hashTable[V]) change(e *epoch, hash, place uint32) *entry[V] {
	bucket := t.own(e, t.index(hash))
	return &bucket[findPlace(bucket, hash, place)]
}

// findPlace returns where the entry of a place, which is there, is in its bucket.
func findPlace[V any](bucket []entry[V], hash, place uint32) int {
	i := home(hash, len(bucket))
	for bucket[i].place != place || bucket[i].hash != hash {
		if i++; i == len(bucket) {
			i = 0
		}
	}
	return i
}

// has reports whether there is an entry of a hash.
func (t *hashTable[V]) has(hash uint32) bool {
	bucket := t.bucket(hash)
	if len(bucket) == 0 {
		return false
	}
	for i := home(hash, len(bucket)); bucket[i].place != 0; {
		if bucket[i].hash == hash {
			return true
		}
		if i++; i == len(bucket) {
			i = 0
		}
	}
	return false
}

// insert adds an entry, whose place must not be there yet under its hash.
func (t *hashTable[V]) insert(e *epoch, added entry[V]) {
	if int(t.used) >= len(t.table)*splitLoad {
		t.split(e)
	}
	p := t.index(added.hash)
	bucket := t.own(e, p)
	s := &t.state[p]
	if (int(s.used)+1)*4 > len(bucket)*3 {
		bucket = resized(e, bucket, len(bucket)+max(minBucket, len(bucket)/16*8))
		t.table[p] = bucket
	}
	put(bucket, &added)
	s.used++
	t.used++
}

// put stores an entry in a bucket that has room.
func put[V any](bucket []entry[V], added *entry[V]) {
	i := home(added.hash, len(bucket))
	for bucket[i].place != 0 {
		if i++; i == len(bucket) {
			i = 0
		}
	}
	bucket[i] = *added
}

// remove takes out the entry of a place, which is there.
func (t *hashTable[V]) remove(e *epoch, hash, place uint32) {
	p := t.index(hash)
	bucket := t.own(e, p)
	hole := findPlace(bucket, hash, place)
	for i := hole; ; {
		if i++; i == len(bucket) {
			i = 0
		}
		if bucket[i].place == 0 {
			break
		}
		if distance(home(bucket[i].hash, len(bucket)), i, len(bucket)) >= distance(hole, i, len(bucket)) {
			bucket[hole] = bucket[i]
			hole = i
		}
	}
	bucket[hole] = entry[V]{}
	t.used--
	s := &t.state[p]
	s.used--
	if len(bucket) > 2*minBucket && int(s.used)*4 < len(bucket) {
		t.table[p] = resized(e, bucket, sizeFor(int(s.used)))
	}
	switch {
	case t.used == 0:
		*t = hashTable[V]{}
	case len(t.table) > 1 && int(t.used) < len(t.table)*mergeLoad:
		t.merge(e)
	}
}

// distance returns how many steps it is from one place of a bucket to another.
func distance(from, to, size int) int {
	if to < from {
		to += size
	}
	return to - from
}

// sizeFor returns the size of a bucket that n entries fill at two thirds.
func sizeFor(n int) int { return max(minBucket, (n+n/2+7)&^7) }

// resized returns a bucket of another size with the same entries.
func resized[V any](e *epoch, bucket []entry[V], size int) []entry[V] {
	larger := make([]entry[V], size)
	for i := range bucket {
		if bucket[i].place != 0 {
			put(larger, &bucket[i])
		}
	}
	e.moved += uint64(len(bucket))
	return larger
}

// setBuckets notes that there are as many buckets as there are in the table.
func (t *hashTable[V]) setBuckets() { t.mask = 1<<bits.Len(uint(len(t.table)-1)) - 1 }

// split adds a bucket, with the entries that go there from another one.
func (t *hashTable[V]) split(e *epoch) {
	t.ownTable(e)
	added := uint32(len(t.table))
	t.table = append(t.table, nil)
	t.state = append(t.state, bucketState{gen: e.gen})
	t.setBuckets()
	if added == 0 {
		return
	}
	from := added & (t.mask >> 1)
	old := t.table[from]
	moving := 0
	for i := range old {
		if old[i].place != 0 && t.index(old[i].hash) == added {
			moving++
		}
	}
	staying := int(t.state[from].used) - moving
	t.table[from], t.table[added] = make([]entry[V], sizeFor(staying)), make([]entry[V], sizeFor(moving))
	for i := range old {
		if old[i].place != 0 {
			put(t.table[t.index(old[i].hash)], &old[i])
		}
	}
	t.state[from] = bucketState{gen: e.gen, used: uint32(staying)}
	t.state[added].used = uint32(moving)
	e.moved += uint64(len(old))
}

// merge takes away the last bucket. Its entries go to the one that they came from.
func (t *hashTable[V]) merge(e *epoch) {
	t.ownTable(e)
	last := uint32(len(t.table) - 1)
	into := last & (t.mask >> 1)
	joined := make([]entry[V], sizeFor(int(t.state[into].used+t.state[last].used)))
	for _, from := range []uint32{into, last} {
		for i := range t.table[from] {
			if t.table[from][i].place != 0 {
				put(joined, &t.table[from][i])
			}
		}
		e.moved += uint64(len(t.table[from]))
	}
	t.table[into] = joined
	t.state[into] = bucketState{gen: e.gen, used: t.state[into].used + t.state[last].used}
	t.table[last] = nil
	t.table, t.state = t.table[:last], t.state[:last]
	if cap(t.table) > 16+4*len(t.table) {
		t.table, t.state = slices.Clone(t.table), slices.Clone(t.state)
	}
	t.setBuckets()
}

// makeHashTable returns an empty table with room for n entries.
func makeHashTable[V any](e *epoch, n int) hashTable[V] {
	t := hashTable[V]{tableGen: e.gen}
	if n == 0 {
		return t
	}
	count := 1
	for count*splitLoad < n {
		count *= 2
	}
	t.table = make([][]entry[V], count)
	t.state = slices.Repeat([]bucketState{{gen: e.gen}}, count)
	t.setBuckets()
	size := sizeFor(n/count + 32)
	for p := range t.table {
		t.table[p] = make([]entry[V], size)
	}
	return t
}
