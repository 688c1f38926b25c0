package plan

import "sync/atomic"

// site is a place in a type whose values are shared. All of them are of one type.
type site struct {
	id      uint32 // tells it from others; not 0
	pool    luck   // of looking values up in the pool
	related luck   // of comparing values with those of relatives
}

// luck tells whether to look for a value that is there already. Where hardly any is, as
// of names and addresses, that is done for one object of some only, to see whether it is
// still so; what is found for those is counted, so that decoders which work at once
// write to the same memory now and then only.
type luck struct {
	tries, hits atomic.Uint32
	bad         atomic.Bool
}

const (
	// trial is how many tries are counted before they are judged.
	trial = 64
	// trialObjects is how many objects are decoded until only one of trialEvery is
	// counted.
	trialObjects = 128
	trialEvery   = 16
)

// The share of hits below which tries are not worth it: one in so many.
const (
	rareInPool  = 4 // each costs a hash, a lock, and a weak pointer
	rareRelated = 4 // what is compared in vain is compared again part by part
)

// isTrial reports whether tries are counted for an object, of which so many were
// decoded.
func isTrial(objects uint64) bool { return objects <= trialObjects || objects%trialEvery == 0 }

// try reports whether to look for a value.
func (d *decoder) try(l *luck, rare uint32) bool {
	if !d.trial {
		return !l.bad.Load()
	}
	if l.tries.Add(1)%trial == 0 {
		l.bad.Store(l.hits.Swap(0) < trial/rare)
	}
	return true
}

// hit notes that a try has found a value.
func (d *decoder) hit(l *luck) {
	if d.trial {
		l.hits.Add(1)
	}
}
