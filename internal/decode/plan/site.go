package plan

import "github.com/kubetyped/informer/internal/decode/parts"

// site is a place in a type whose values are shared. All of them are of one type.
type site struct {
	id      uint32     // tells it from others; not 0
	pool    parts.Luck // of looking values up in the pool
	related parts.Luck // of comparing values with those of relatives
}

// The share of hits below which tries are not worth it: one in so many.
const (
	rareInPool  = 4 // each costs a hash, a lock, and a weak pointer
	rareRelated = 4 // what is compared in vain is compared again part by part
)

// try reports whether to look for a value.
func (d *decoder) try(l *parts.Luck, rare uint32) bool { return l.Try(rare, d.trial) }

// hit notes that a try has found a value.
func (d *decoder) hit(l *parts.Luck) { l.Hit(d.trial) }
