package plan

import "sync/atomic"

// site is a place in a type whose values are shared. All of them are of one type.
type site struct {
	id      uint32 // tells it from others; not 0
	pool    luck   // of looking values up in the pool
	related luck   // of comparing values with those of relatives
}

// luck tells whether to look for a value that is there already. Where hardly any is, as
// of names and addresses, that is done only now and then, to see whether it is still
// so. Counts may miss some, which does no harm.
type luck struct{ tries, hits, skips atomic.Uint32 }

const (
	// trial is how many tries are made before they are judged.
	trial = 256
	// pause is how often none is made after a trial that has found too little.
	pause = 16 * trial
)

// The share of hits below which tries are not worth it: one in so many.
const (
	rareInPool  = 4 // each costs a hash, a lock, and a weak pointer
	rareRelated = 4 // what is compared in vain is compared again part by part
)

// try reports whether to look for a value.
func (l *luck) try(rare uint32) bool {
	if left := l.skips.Load(); left > 0 {
		l.skips.CompareAndSwap(left, left-1)
		return false
	}
	if l.tries.Add(1)%trial == 0 {
		if l.hits.Swap(0) < trial/rare {
			l.skips.Store(pause)
		}
	}
	return true
}

// hit notes that a try has found a value.
func (l *luck) hit() { l.hits.Add(1) }
