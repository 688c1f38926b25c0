package packed

import (
	"hash/maphash"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"weak"
)

// mostBases is how many beginnings of names are known at most.
const mostBases = 1 << 12

// Record is the bytes of an object. It does not change, and may be read by several
// goroutines. The zero Record has none.
type Record struct {
	base *base  // nil: data is the bytes
	data string // a delta of the base
}

// base is what the bytes of several objects are deltas of. It does not change.
type base struct {
	root *string // nil: data is the bytes
	data string  // a delta of the root
	size int     // the length of the bytes
}

// Store makes records. Several goroutines may use it at once. Its records do not refer to it.
type Store struct {
	seed maphash.Seed
	root atomic.Pointer[string] // nil: there is none yet

	mu    sync.Mutex
	known map[uint64]weak.Pointer[base] // guarded by mu; by hash
}

// NewStore returns an empty Store.
func NewStore() *Store {
	return &Store{seed: maphash.MakeSeed(), known: map[uint64]weak.Pointer[base]{}}
}

// scratch is what packing and reading need for a moment.
type scratch struct {
	differ
	base, text, delta []byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// Pack returns the record of an object's bytes, of which it makes a copy. If those are the
// ones of before, an earlier record of the object or the zero one, the records share their
// memory.
func (s *Store) Pack(namespace, name string, bytes []byte, before Record) Record {
	if len(bytes) > MostShared {
		if before.base == nil && before.data == string(bytes) {
			return before
		}
		return Record{data: string(bytes)}
	}
	w := scratches.Get().(*scratch)
	defer scratches.Put(w)
	hash := s.hash(namespace, name)
	served := s.find(hash)
	if served == nil {
		served = before.base
	}
	if served == nil || !w.diff(served, bytes) {
		served = s.newBase(w, bytes)
		s.note(hash, served)
		w.delta = appendWhole(w.delta[:0], len(bytes))
	}
	if before.base == served && before.data == string(w.delta) {
		return before
	}
	return Record{base: served, data: string(w.delta)}
}

// diff makes the delta of bytes and a base. It returns false if the base does not serve.
func (w *scratch) diff(of *base, bytes []byte) bool {
	if of.size > 2*len(bytes) {
		return false
	}
	var err error
	if w.base, err = of.append(w.base[:0]); err != nil {
		return false
	}
	var ok bool
	w.delta, ok = w.append(w.delta[:0], w.base, bytes, longest(bytes))
	return ok
}

// longest returns how long the delta of a base that serves is at most.
func longest(bytes []byte) int { return max(len(bytes)/2, 16) }

// newBase makes a base of an object's bytes.
func (s *Store) newBase(w *scratch, bytes []byte) *base {
	root := s.root.Load()
	if root == nil {
		whole := string(bytes)
		if s.root.CompareAndSwap(nil, &whole) {
			return &base{root: &whole, data: string(appendWhole(w.delta[:0], len(bytes))), size: len(bytes)}
		}
		root = s.root.Load()
	}
	if w.diff(&base{data: *root, size: len(*root)}, bytes) {
		return &base{root: root, data: string(w.delta), size: len(bytes)}
	}
	return &base{data: string(bytes), size: len(bytes)}
}

// append appends the bytes of a base.
func (b *base) append(into []byte) ([]byte, error) {
	if b.root == nil {
		return append(into, b.data...), nil
	}
	return appendText(into, *b.root, b.data)
}

// Read calls use with the bytes, which are valid until it returns. It returns the error of
// use, or one if the record was damaged.
func (r Record) Read(use func(bytes []byte) error) error {
	w := scratches.Get().(*scratch)
	defer scratches.Put(w)
	var err error
	w.text = w.text[:0]
	if r.base == nil {
		w.text = append(w.text, r.data...)
		return use(w.text)
	}
	if w.base, err = r.base.append(w.base[:0]); err != nil {
		return err
	}
	if w.text, err = appendText(w.text, w.base, r.data); err != nil {
		return err
	}
	return use(w.text)
}

// hash returns the hash of the beginning that the names of siblings share, up to the last dash.
func (s *Store) hash(namespace, name string) uint64 {
	beginning := name[:strings.LastIndexByte(name, '-')+1]
	return maphash.String(s.seed, beginning) ^ maphash.String(s.seed, namespace)*0x9e3779b97f4a7c15
}

// find returns the base of a hash, nil if there is none.
func (s *Store) find(hash uint64) *base {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[hash].Value()
}

// note makes a base that of a hash.
func (s *Store) note(hash uint64, of *base) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= mostBases {
		maps.DeleteFunc(s.known, func(_ uint64, of weak.Pointer[base]) bool { return of.Value() == nil })
		if len(s.known) > mostBases/2 {
			clear(s.known)
		}
	}
	s.known[hash] = weak.Make(of)
}
