package queue

// hashIndex finds the numbers of rows by hashes. It is an extendible hash table
// (R. Fagin and others, 1979): a directory of small tables with open addressing
// and linear probing, each of which is split when it is half full, and merged with
// its buddy when both are nearly empty. So it never has to move much at once.
//
// The upper bits of a hash choose the bucket, the lower ones the place in it.
type hashIndex struct {
	directory []*bucket // 2^depth; a bucket of depth d is there 2^(depth-d) times in a row
	depth     uint8
	len       int
}

// bucket has the rows whose hashes begin with the same depth bits.
type bucket struct {
	slots []slot // a power of two, at most half of them in use
	used  int
	depth uint8
}

// slot refers to a row by its number plus one; 0 means that the slot is empty.
type slot struct {
	hash uint32
	row  int32
}

const (
	minSlots   = 32
	maxSlots   = 4096 // of a bucket that can be split; to do so takes some 10 µs
	mergeSlots = maxSlots / 8
)

func newHashIndex() hashIndex { return hashIndex{directory: []*bucket{newBucket(0, minSlots)}} }

func newBucket(depth uint8, slots int) *bucket {
	return &bucket{slots: make([]slot, slots), depth: depth}
}

// bucket returns the bucket of a hash.
func (x *hashIndex) bucket(hash uint32) *bucket { return x.directory[uint64(hash)>>((32-x.depth)&63)] }

// insert adds a row.
func (x *hashIndex) insert(hash uint32, n int32) {
	x.len++
	b := x.bucket(hash)
	if 2*b.used >= len(b.slots) {
		x.grow(b, hash)
		b = x.bucket(hash)
	}
	b.insert(slot{hash: hash, row: n + 1})
}

func (b *bucket) insert(s slot) {
	mask := uint32(len(b.slots) - 1)
	i := s.hash & mask
	for b.slots[i].row != 0 {
		i = (i + 1) & mask
	}
	b.slots[i] = s
	b.used++
}

// delete removes row n, which is there.
func (x *hashIndex) delete(hash uint32, n int32) {
	x.len--
	b := x.bucket(hash)
	b.used--
	slots := b.slots
	mask := uint32(len(slots) - 1)
	hole := hash & mask
	for slots[hole].row != n+1 {
		hole = (hole + 1) & mask
	}
	// What was displaced by the row moves up, so no mark of it is needed.
	for i := (hole + 1) & mask; slots[i].row != 0; i = (i + 1) & mask {
		if home := slots[i].hash & mask; (i-home)&mask >= (i-hole)&mask {
			slots[hole] = slots[i]
			hole = i
		}
	}
	slots[hole] = slot{}
}

// grow makes room in the bucket of a hash. It is split, unless it is small, or so
// many hashes have the same upper bits that the directory would get too long.
func (x *hashIndex) grow(b *bucket, hash uint32) {
	splits := len(b.slots) >= maxSlots
	if splits && b.depth == x.depth {
		if len(x.directory) > x.len/16 {
			splits = false
		} else {
			x.double()
		}
	}
	if !splits {
		larger := newBucket(b.depth, 2*len(b.slots))
		larger.take(b)
		x.set(hash, larger)
		return
	}
	low, high := newBucket(b.depth+1, len(b.slots)), newBucket(b.depth+1, len(b.slots))
	bit := uint32(1) << (31 - b.depth)
	for _, s := range b.slots {
		switch {
		case s.row == 0:
		case s.hash&bit == 0:
			low.insert(s)
		default:
			high.insert(s)
		}
	}
	x.set(hash&^bit, low)
	x.set(hash|bit, high)
}

// take inserts what is in another bucket.
func (b *bucket) take(other *bucket) {
	for _, s := range other.slots {
		if s.row != 0 {
			b.insert(s)
		}
	}
}

// set puts a bucket where the directory has those of a hash.
func (x *hashIndex) set(hash uint32, b *bucket) {
	count := uint32(1) << (x.depth - b.depth)
	first := (hash >> (32 - x.depth)) &^ (count - 1)
	for i := range count {
		x.directory[first+i] = b
	}
}

// double makes the directory longer.
func (x *hashIndex) double() {
	directory := make([]*bucket, 2*len(x.directory))
	for i, b := range x.directory {
		directory[2*i], directory[2*i+1] = b, b
	}
	x.directory = directory
	x.depth++
}

// halve makes the directory shorter, if it can be.
func (x *hashIndex) halve() bool {
	for i := 0; i < len(x.directory); i += 2 {
		if x.directory[i] != x.directory[i+1] {
			return false
		}
	}
	directory := make([]*bucket, len(x.directory)/2)
	for i := range directory {
		directory[i] = x.directory[2*i]
	}
	x.directory = directory
	x.depth--
	return true
}

// shrink merges buckets that are nearly empty, among those at the given places in
// the directory.
func (x *hashIndex) shrink(from, to int) {
	for i := from; i < min(to, len(x.directory)); i++ {
		b := x.directory[i]
		switch {
		case b.depth > 0:
			hash := uint32(i) << (32 - x.depth)
			buddy := x.bucket(hash ^ 1<<(32-b.depth))
			if buddy.depth != b.depth || b.used+buddy.used > mergeSlots {
				continue
			}
			merged := newBucket(b.depth-1, maxSlots/2)
			merged.take(b)
			merged.take(buddy)
			x.set(hash, merged)
		case len(b.slots) > minSlots && 8*b.used < len(b.slots):
			smaller := newBucket(0, len(b.slots)/2)
			smaller.take(b)
			x.set(0, smaller)
		}
	}
}
