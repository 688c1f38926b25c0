package parts

import (
	"hash/maphash"
	"maps"
	"strings"
	"sync"
	"unsafe"
	"weak"
)

// Relatives finds for an object that is new another one that it probably has parts in
// common with: one of its namespace whose name begins alike, as the names of all Pods of
// a ReplicaSet do. It refers to objects weakly, and to as many as there are such
// beginnings, up to a bound. Several goroutines may use it at once.
//
// To compare an object with a relative costs little, whether it is one or not, while
// each look-up in a pool costs a hash, a lock and a weak pointer.
type Relatives[T any] struct {
	pointers Pointers[T]
	seed     maphash.Seed

	mu    sync.Mutex
	known map[uint64]weak.Pointer[byte] // guarded by mu; T's, by hash
	last  weak.Pointer[byte]            // guarded by mu; the one that was noted last
}

// mostRelatives is how many beginnings of names are known at most.
const mostRelatives = 1 << 12

// NewRelatives returns a Relatives of no objects.
func NewRelatives[T any](pointers Pointers[T]) *Relatives[T] {
	return &Relatives[T]{pointers: pointers, seed: maphash.MakeSeed(), known: map[uint64]weak.Pointer[byte]{}}
}

// Decode calls decode with a relative of an object, or nil, and returns its results. decode may
// return false. The object that it returns is a relative of others from then on, and must not
// be modified.
func (r *Relatives[T]) Decode(namespace, name string, decode func(like T) (T, bool)) (T, bool) {
	hash := r.hash(namespace, name)
	like, known := r.find(hash)
	made, ok := decode(like)
	if ok && !known {
		r.note(hash, made)
	}
	return made, ok
}

// hash returns a hash of the namespace and the part of names that relatives have in common:
// everything up to the last dash.
func (r *Relatives[T]) hash(namespace, name string) uint64 {
	beginning := name[:strings.LastIndexByte(name, '-')+1]
	return maphash.String(r.seed, beginning) ^ maphash.String(r.seed, namespace)*0x9e3779b97f4a7c15
}

// find returns an object to compare with, nil if there is none, and whether it is one of the
// hash.
func (r *Relatives[T]) find(hash uint64) (like T, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := r.known[hash].Value()
	if known = found != nil; !known {
		found = r.last.Value()
	}
	return r.pointers.At(unsafe.Pointer(found)), known
}

// note makes an object the relative of those whose names begin like its own.
func (r *Relatives[T]) note(hash uint64, obj T) {
	noted := weak.Make((*byte)(r.pointers.To(obj)))
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) == mostRelatives {
		maps.DeleteFunc(r.known, func(_ uint64, of weak.Pointer[byte]) bool { return of.Value() == nil })
		if len(r.known) > mostRelatives/2 {
			clear(r.known)
		}
	}
	r.known[hash] = noted
	r.last = noted
}
