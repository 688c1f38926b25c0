package parts

import (
	"hash/maphash"
	"unsafe"
	"weak"
)

// Table has values by their kind and the bytes that they were decoded from. It refers to
// them weakly: what nobody else refers to any more is let go of. Several goroutines may
// use it at once.
type Table struct {
	seed   maphash.Seed
	shards []shard
}

// shardCount is how many locks there are; some more than decoders.
const shardCount = 64

// NewTable returns a table without any values.
func NewTable() *Table {
	return &Table{seed: maphash.MakeSeed(), shards: make([]shard, shardCount)}
}

// Part is a value: where it is, and its length, if it is a slice or a string.
type Part struct {
	Data unsafe.Pointer
	Len  int
}

// Ticket is the permission to keep a value. The zero Ticket is none.
type Ticket struct {
	hash uint64 // 0: it is not to be kept
	kind uint32
}

// Find returns a value of a kind that may be that of these bytes, and has to be compared
// with them, or nothing and whether to keep what is decoded instead. Values are kept
// when their bytes come for the second time: most of what never comes again never gets
// in. A kind, which is not 0, stands for one Go type.
func (t *Table) Find(kind uint32, data []byte) (Part, Ticket) {
	hash := max(1, maphash.Bytes(t.seed, data)^uint64(kind)*0x9e3779b97f4a7c15)
	s := &t.shards[hash%shardCount]
	s.mu.Lock()
	defer s.mu.Unlock()
	if slot := s.slot(hash); slot != nil {
		if slot.kind != kind { // a value of another type, which must not be looked at
			return Part{}, Ticket{}
		}
		return Part{unsafe.Pointer(slot.data.Value()), int(slot.len)}, Ticket{hash, kind}
	}
	if !s.sighted(hash) {
		return Part{}, Ticket{}
	}
	return Part{}, Ticket{hash, kind}
}

// Keep keeps a value that was decoded from the bytes that the ticket is for, unless it
// is nowhere.
func (t *Table) Keep(ticket Ticket, made Part) {
	if ticket.hash == 0 || made.Data == nil {
		return
	}
	s := &t.shards[ticket.hash%shardCount]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(slot{ticket.hash, weak.Make((*byte)(made.Data)), ticket.kind, uint32(made.Len)})
}

// Len returns how many values the table refers to; some of them may be gone.
func (t *Table) Len() int {
	n := 0
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		n += s.used
		s.mu.Unlock()
	}
	return n
}
