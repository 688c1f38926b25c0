package parts

import "sync/atomic"

// Luck decides whether to look for an existing value. Where hardly any exists, as of names and
// addresses, look-ups are done for only some of the objects, to see whether it is still so.
// Only hits for these are counted, so that decoders which work at once write to the same memory
// only now and then. The zero Luck is ready for use.
type Luck struct {
	tries, hits atomic.Uint32
	bad         atomic.Bool
}

const (
	// trial is how many tries are counted before they are judged.
	trial = 64
	// rare is the share of hits below which tries are not worth it: one in so many.
	rare = 4
	// trialObjects is how many objects are decoded until only one of trialEvery is
	// counted.
	trialObjects = 128
	trialEvery   = 16
)

// IsTrial reports whether tries are counted for an object, of which so many were
// decoded.
func IsTrial(objects uint64) bool { return objects <= trialObjects || objects%trialEvery == 0 }

// Try reports whether to look for a value of an object, for which tries are counted if
// isTrial is true. It says no where less than a quarter of the tries were hits.
func (l *Luck) Try(isTrial bool) bool {
	if !isTrial {
		return !l.bad.Load()
	}
	if l.tries.Add(1)%trial == 0 {
		l.bad.Store(l.hits.Swap(0) < trial/rare)
	}
	return true
}

// Hit notes that a try has found a value.
func (l *Luck) Hit(isTrial bool) {
	if isTrial {
		l.hits.Add(1)
	}
}
