package parts

import (
	"slices"
	"sync"
	"weak"
)

// How many parts a shard remembers to have seen: a few at first, so that a pool of few
// objects is small, and in the end so many that the shards together remember what some
// thousand objects are made of. So parts are recognized that come again soon, as those
// of one application do in a list.
const (
	firstSightings = 1 << 4
	lastSightings  = 1 << 11
	setSize        = 4
)

// shard is a hash table of parts: open addressing, linear probing.
type shard struct {
	mu    sync.Mutex
	slots []slot   // guarded by mu; a power of two
	used  int      // guarded by mu; slots that refer to something
	seen  []uint32 // guarded by mu; what was met once: sets by hash, the newest of each first
	noted int      // guarded by mu; in seen, since it was made
	asked uint64   // guarded by mu; parts that were looked for
	found uint64   // guarded by mu; those that were there
}

// slot refers to a part.
type slot struct {
	hash uint64 // 0: none
	data weak.Pointer[byte]
	kind uint32
	len  uint32
}

// slot returns the slot of a hash, nil if there is none.
func (s *shard) slot(hash uint64) *slot {
	if s.slots == nil {
		return nil
	}
	for i := s.home(hash); ; i = (i + 1) & (len(s.slots) - 1) {
		switch s.slots[i].hash {
		case hash:
			return &s.slots[i]
		case 0:
			return nil
		}
	}
}

// home returns where the search for a hash begins. The low bits were used to select the shard.
func (s *shard) home(hash uint64) int { return int(hash>>8) & (len(s.slots) - 1) }

// sighted notes that bytes were met, and reports whether they were before. It forgets bytes
// when as many others of their set have come since as a set has; where that happens often, it
// remembers more.
func (s *shard) sighted(hash uint64) bool {
	if s.noted == len(s.seen) && s.noted < lastSightings {
		s.seen, s.noted = make([]uint32, max(firstSightings, 2*len(s.seen))), 0
	}
	at := int(hash>>8) & (len(s.seen)/setSize - 1) * setSize
	set, tag := s.seen[at:at+setSize], uint32(hash>>32)
	if slices.Contains(set, tag) {
		return true
	}
	copy(set[1:], set)
	set[0] = tag
	s.noted = min(s.noted+1, lastSightings)
	return false
}

// put refers to a part, and replaces one of the same hash. It reports whether this has made the
// shard large.
func (s *shard) put(one slot) (large bool) {
	if have := s.slot(one.hash); have != nil {
		*have = one
		return false
	}
	if s.used*4 >= len(s.slots)*3 {
		s.fit()
		large = len(s.slots) > smallShard
	}
	s.insert(one)
	return large
}

func (s *shard) insert(one slot) {
	i := s.home(one.hash)
	for s.slots[i].hash != 0 {
		i = (i + 1) & (len(s.slots) - 1)
	}
	s.slots[i] = one
	s.used++
}

// fit makes as much room as the parts need, and leaves out those that are gone.
func (s *shard) fit() {
	alive := 0
	for _, one := range s.slots {
		if one.isAlive() {
			alive++
		}
	}
	size := 16
	for size < 2*alive {
		size *= 2
	}
	old := s.slots
	s.slots, s.used = make([]slot, size), 0
	for _, one := range old {
		if one.isAlive() {
			s.insert(one)
		}
	}
}

// isAlive reports whether there is a part that other code still refers to.
func (s *slot) isAlive() bool { return s.hash != 0 && s.data.Value() != nil }
