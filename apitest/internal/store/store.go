package store

import (
	"errors"
	"sync"
)

var (
	// ErrChanged says that the object is no longer at the version the write was
	// computed from: read again and retry, or give up.
	ErrChanged = errors.New("the object has been changed")
	// ErrCompacted says that the history asked for is gone.
	ErrCompacted = errors.New("the revision has been compacted")
	// ErrFuture says that the revision asked for has not been written yet.
	ErrFuture = errors.New("the revision is in the future")
)

// Store numbers the writes of its tables. Make one with New.
type Store struct {
	limit int // events a table keeps before it compacts by itself

	mu       sync.RWMutex
	revision uint64        // guarded by mu
	tables   []*Table      // guarded by mu
	changed  chan struct{} // guarded by mu; closed at the next write, nil if no log waits
}

// New returns an empty store at revision 1. A table that holds more than limit
// events of history forgets the older half; limit must be positive.
func New(limit int) *Store {
	return &Store{limit: limit, revision: 1}
}

// Table adds and returns an empty table.
func (s *Store) Table() *Table {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &Table{store: s, chains: map[string]*chain{}, compacted: s.revision}
	s.tables = append(s.tables, t)
	return t
}

// Revision returns the revision of the last write to any table.
func (s *Store) Revision() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.revision
}

// Compact forgets the history of every table up to the present revision, which
// it returns: reads at, and watches from, an earlier revision get ErrCompacted.
func (s *Store) Compact() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tables {
		t.compact(s.revision)
	}
	return s.revision
}
