package store

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/watch"
)

// Variant names one spelling of an event on the wire.
type Variant struct {
	MediaType string
	Partial   bool
	Type      watch.EventType
}

// Event is one write as watches see it.
type Event struct {
	// Type is Added, Modified or Deleted.
	Type watch.EventType
	// Current is the state after the write; for Deleted, the tombstone.
	Current *Version
	// Previous is the state before it, nil for Added.
	Previous *Version

	key string // of the object

	retired atomic.Bool
	mu      sync.Mutex
	encoded map[Variant][]byte // guarded by mu
}

// Revision returns the revision of the write.
func (e *Event) Revision() uint64 { return e.Current.Revision }

// upTo returns how many of a table's events are not after a revision.
func upTo(events []*Event, revision uint64) int {
	n, _ := slices.BinarySearchFunc(events, revision+1, func(e *Event, r uint64) int { return cmp.Compare(e.Revision(), r) })
	return n
}

// Encoded returns the bytes of a variant, made by encode on first use and shared
// by every watch that asks while the event is recent. The bytes must not be
// modified. It returns the error of encode, which is not remembered.
func (e *Event) Encoded(v Variant, encode func() ([]byte, error)) ([]byte, error) {
	e.mu.Lock()
	defer func() {
		e.mu.Unlock()
		if e.retired.Load() { // meanwhile: retire may have found the lock taken
			e.retire()
		}
	}()
	if b, ok := e.encoded[v]; ok {
		return b, nil
	}
	b, err := encode()
	if err != nil {
		return nil, err
	}
	if e.encoded == nil {
		e.encoded = make(map[Variant][]byte, 1)
	}
	e.encoded[v] = b
	return b, nil
}

// retire frees the bytes: watches that come later encode for themselves. It does not wait for a
// watch that is in Encoded, which frees them when it leaves.
func (e *Event) retire() {
	e.retired.Store(true)
	if e.mu.TryLock() {
		e.encoded = nil
		e.mu.Unlock()
	}
}
