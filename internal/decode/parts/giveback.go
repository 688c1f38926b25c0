package parts

import (
	"math/rand/v2"
	"runtime"
	"weak"
)

const (
	// smallShard is how many slots a shard may have without being checked.
	smallShard = 64
	// sampled is how many slots of a shard are looked at to see whether it is worth
	// while to look at all of them.
	sampled = 32
)

// collected becomes garbage at once, so that its cleanup runs after the next collection. It has
// a pointer so that it is a separate object for the collector.
type collected struct{ _ *byte }

// watch makes the table give memory back. Parts that it refers to weakly are freed by a
// collection, so that is when to look.
func (t *Table) watch() {
	if !t.watched.Swap(true) {
		runtime.AddCleanup(new(collected), giveBack, weak.Make(t))
	}
}

// giveBack gives back the memory of parts that are gone. The runtime calls it.
func giveBack(of weak.Pointer[Table]) {
	t := of.Value()
	if t == nil {
		return
	}
	t.watched.Store(false) // first: a shard that becomes large from now on is watched again
	large := false
	for i := range t.shards {
		large = t.shards[i].giveBack() || large
	}
	if large {
		t.watch()
	}
}

// giveBack makes a shard smaller if less than an eighth of it is in use. It costs a look at
// some slots if that is not so, and reports whether the shard is large.
func (s *shard) giveBack() (large bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.slots) <= smallShard {
		return false
	}
	alive, at := 0, rand.IntN(len(s.slots))
	for range sampled {
		at = (at + len(s.slots)/sampled + 1) & (len(s.slots) - 1)
		if s.slots[at].isAlive() {
			alive++
		}
	}
	if alive < sampled/8 {
		if s.fit(); len(s.slots) <= smallShard {
			s.seen, s.noted = nil, 0
		}
	}
	return len(s.slots) > smallShard
}
