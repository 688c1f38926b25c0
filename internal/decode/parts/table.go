package parts

import (
	"hash/maphash"
	"sync/atomic"
	"unsafe"
	"weak"
)

// Table contains values by their kind and the bytes that they were decoded from. It refers to
// them weakly: a value without other references is freed, and so is the table's own memory for
// it, soon after the collector has found out. Several goroutines may use it at once.
type Table struct {
	seed    maphash.Seed
	shards  []shard
	watched atomic.Bool // giveBack is called after the next collection
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
	s.asked++
	if slot := s.slot(hash); slot != nil {
		if slot.kind != kind { // a value of another type, which must not be looked at
			return Part{}, Ticket{}
		}
		data := unsafe.Pointer(slot.data.Value())
		if data != nil {
			s.found++
		}
		return Part{data, int(slot.len)}, Ticket{hash, kind}
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
	large := s.put(slot{ticket.hash, weak.Make((*byte)(made.Data)), ticket.kind, uint32(made.Len)})
	s.mu.Unlock()
	if large {
		t.watch()
	}
}

// Usage is what a table refers to, and how often it was of use.
type Usage struct {
	Parts  int    // that it refers to; some of them may be gone
	Bytes  int    // of the table itself
	Looked uint64 // how many parts were looked for
	Found  uint64 // how many of these were there
}

// Usage returns what the table refers to, and how often it was of use. It is a sum over
// parts of the table, one after the other, while others use it.
func (t *Table) Usage() (u Usage) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		u.Parts += s.used
		u.Bytes += int(unsafe.Sizeof(*s)) + len(s.slots)*int(unsafe.Sizeof(slot{})) + len(s.seen)*4
		u.Looked += s.asked
		u.Found += s.found
		s.mu.Unlock()
	}
	return u
}
