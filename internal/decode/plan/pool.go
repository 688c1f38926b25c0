package plan

import (
	"maps"
	"reflect"
	"sync"
	"unsafe"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// Pool makes plans, and contains the parts that decoded objects share. It refers to parts
// weakly: a part that no object has any more is freed. Several goroutines may decode with its
// plans at once.
//
// The zero Pool does not deduplicate.
type Pool struct {
	mu    sync.Mutex
	build builder // guarded by mu

	parts *parts.Table // nil: none are shared
}

// NewPool returns a pool without any parts.
func NewPool() *Pool {
	return &Pool{parts: parts.NewTable()}
}

// plan returns the plan of a message.
func (p *Pool) plan(of reflect.Type, mask *Mask) (*message, error) {
	return p.made(func(b *builder) (*message, error) { return b.message(of, mask) })
}

// made returns the plan that by makes, and keeps it.
func (p *Pool) made(by func(*builder) (*message, error)) (*message, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.build.made == nil {
		p.build.made = map[masked]*message{}
	}
	before := maps.Clone(p.build.made)
	m, err := by(&p.build)
	if err != nil {
		p.build.made = before // some of the others are half done
		return nil, err
	}
	m.pack()
	return m, nil
}

// Parts returns how many parts the pool refers to; some of them may be gone.
func (p *Pool) Parts() int {
	if p.parts == nil {
		return 0
	}
	return p.parts.Len()
}

// Usage returns what the pool refers to, and how often it was of use; nothing for one that does
// not deduplicate.
func (p *Pool) Usage() parts.Usage {
	if p.parts == nil {
		return parts.Usage{}
	}
	return p.parts.Usage()
}

// part is a value that objects share: where it is, and its length, if it is a slice
// or a string.
type part struct {
	data unsafe.Pointer
	len  int
}

// find returns a part that may be that of these bytes, and has to be compared with
// them, or nothing and whether to keep what is decoded instead.
func (d *decoder) find(at *site, data []byte) (part, parts.Ticket) {
	p := d.pool
	if p == nil || p.parts == nil || at == nil || d.spare < 0 || d.depth > maxLookedUp || !d.try(&at.pool, rareInPool) {
		return part{}, parts.Ticket{}
	}
	found, ticket := p.parts.Find(at.id, data)
	return part{found.Data, found.Len}, ticket
}

// keep keeps a part.
func (d *decoder) keep(t parts.Ticket, made part) {
	if t != (parts.Ticket{}) {
		d.pool.parts.Keep(t, parts.Part{Data: made.data, Len: made.len})
	}
}

// site is a place in a type whose values are shared. All of them are of one type.
type site struct {
	id      uint32     // distinguishes it from others; not 0
	pool    parts.Luck // of looking values up in the pool
	related parts.Luck // of comparing values with those of relatives
}

// The share of hits below which tries are not worth it: one in so many.
const (
	rareInPool  = 4 // each costs a hash, a lock, and a weak pointer
	rareRelated = 4 // a value that differs is compared again, part by part
)

// try reports whether to look for a value.
func (d *decoder) try(l *parts.Luck, rare uint32) bool { return l.Try(rare, d.trial) }

// hit notes that a try has found a value.
func (d *decoder) hit(l *parts.Luck) { l.Hit(d.trial) }
