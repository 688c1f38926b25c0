package plan

import "sync/atomic"

// site is a place in a type whose values are shared. All of them are of one type.
//
// It tells whether to look a value up. Where hardly any come again, as names and
// addresses, that is done only now and then, to see whether it is still so. Counts
// may miss some, which does no harm.
type site struct {
	id                 uint32 // tells it from others; not 0
	looks, hits, skips atomic.Uint32
}

const (
	// trial is how many look-ups are made before they are judged.
	trial = 256
	// rare is the share of hits below which look-ups are not worth it: one in so
	// many.
	rare = 8
	// pause is how many parts are not looked up after such a trial.
	pause = 16 * trial
)

// look reports whether to look a part up.
func (s *site) look() bool {
	if left := s.skips.Load(); left > 0 {
		s.skips.CompareAndSwap(left, left-1)
		return false
	}
	if s.looks.Add(1)%trial == 0 {
		if s.hits.Swap(0) < trial/rare {
			s.skips.Store(pause)
		}
	}
	return true
}

// hit notes that a look-up has found a part.
func (s *site) hit() { s.hits.Add(1) }
