package plan

import (
	"hash/maphash"
	"reflect"
	"sync"
	"unsafe"
	"weak"
)

// Pool makes plans, and has the parts that what these decode shares. It refers to
// parts weakly: those that no object has any more are let go of. Several goroutines
// may decode with its plans at once.
//
// The zero Pool shares no parts.
type Pool struct {
	mu    sync.Mutex
	build builder // guarded by mu

	seed   maphash.Seed
	shards []shard
}

// shardCount is how many locks there are; some more than decoders.
const shardCount = 64

// NewPool returns a pool without any parts.
func NewPool() *Pool {
	return &Pool{seed: maphash.MakeSeed(), shards: make([]shard, shardCount)}
}

// plan returns the plan of a message.
func (p *Pool) plan(of reflect.Type, mask *Mask) (*message, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.build.made == nil {
		p.build.made = map[masked]*message{}
	}
	m, err := p.build.message(of, mask)
	if err != nil {
		p.build.made = nil // some are half done
	}
	return m, err
}

// Parts returns how many parts the pool refers to; some of them may be gone.
func (p *Pool) Parts() int {
	n := 0
	for i := range p.shards {
		s := &p.shards[i]
		s.mu.Lock()
		n += s.used
		s.mu.Unlock()
	}
	return n
}

// part is a value that objects share: where it is, and its length, if it is a slice
// or a string.
type part struct {
	data unsafe.Pointer
	len  int
}

// ticket is the permission to keep a part.
type ticket struct {
	hash uint64 // 0: it is not to be kept
	site uint32
}

// find returns a part that may be that of these bytes, and has to be compared with
// them, or nothing and whether to keep what is decoded instead. Parts are kept when
// their bytes come for the second time: most of what never comes again never gets
// in.
func (d *decoder) find(at *site, data []byte) (part, ticket) {
	p := d.pool
	if p == nil || p.shards == nil || at == nil || !at.look() {
		return part{}, ticket{}
	}
	hash := max(1, maphash.Bytes(p.seed, data)^uint64(at.id)*0x9e3779b97f4a7c15)
	s := &p.shards[hash%shardCount]
	s.mu.Lock()
	defer s.mu.Unlock()
	if slot := s.slot(hash); slot != nil {
		if slot.site != at.id { // a value of another type, which must not be looked at
			return part{}, ticket{}
		}
		return part{unsafe.Pointer(slot.data.Value()), int(slot.len)}, ticket{hash, at.id}
	}
	if !s.sighted(hash) {
		return part{}, ticket{}
	}
	return part{}, ticket{hash, at.id}
}

// keep keeps a part.
func (d *decoder) keep(t ticket, made part) {
	if t.hash == 0 || made.data == nil {
		return
	}
	s := &d.pool.shards[t.hash%shardCount]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(slot{t.hash, weak.Make((*byte)(made.data)), t.site, uint32(made.len)})
}
