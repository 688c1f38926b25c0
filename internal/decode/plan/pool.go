package plan

import (
	"maps"
	"reflect"
	"sync"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// Pool makes plans, and contains the parts that decoded objects share. It refers to parts
// weakly: a part that no object has any more is freed. Several goroutines may decode with its
// plans at once.
//
// With the zero Pool, objects share strings alone.
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

// Usage returns what the pool refers to, and how often it was of use; nothing for one that does
// not deduplicate.
func (p *Pool) Usage() parts.Usage {
	if p.parts == nil {
		return parts.Usage{}
	}
	return p.parts.Usage()
}

// find returns a part that may be that of these bytes, and has to be compared with
// them, or nothing and whether to keep what is decoded instead.
func (d *decoder) find(at *site, data []byte) (parts.Part, parts.Ticket) {
	if d.parts == nil || at == nil || d.spare < 0 || d.depth > maxLookedUp || !at.pool.Try(d.trial) {
		return parts.Part{}, parts.Ticket{}
	}
	return d.parts.Find(at.id, data)
}

// keep keeps a part.
func (d *decoder) keep(t parts.Ticket, made parts.Part) {
	if t != (parts.Ticket{}) {
		d.parts.Keep(t, made)
	}
}

// site is a place in a type whose values are shared. All of them are of one type.
type site struct {
	id      uint32     // distinguishes it from others; not 0
	pool    parts.Luck // of looking values up in the pool: each costs a hash, a lock, and a weak pointer
	related parts.Luck // of comparing values with relatives: one that differs is compared again, part by part
}
