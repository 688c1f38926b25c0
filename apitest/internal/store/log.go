package store

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/watch"
)

// Log is a place in the history of all tables of a store together. It is not safe for
// concurrent use. It holds nothing that needs closing.
type Log struct {
	store *Store
	after uint64 // events up to here are skipped
}

// Entry is a write to one of the tables.
type Entry struct {
	Table *Table
	*Event
}

func (e Entry) compare(other Entry) int { return cmp.Compare(e.Revision(), other.Revision()) }

// Log returns a log of the writes from now on.
func (s *Store) Log() *Log { return &Log{store: s, after: s.Revision()} }

// Next returns all further writes in the order of their revisions, and moves behind
// them. Without any it returns a channel that is closed at the next. It returns
// ErrCompacted when some have been forgotten.
func (l *Log) Next() ([]Entry, <-chan struct{}, error) {
	s := l.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.after == s.revision {
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		return nil, s.changed, nil
	}
	var entries []Entry
	for _, t := range s.tables {
		if l.after < t.compacted {
			return nil, nil, ErrCompacted
		}
		for _, e := range t.events[upTo(t.events, l.after):] {
			entries = append(entries, Entry{t, e})
		}
	}
	slices.SortFunc(entries, Entry.compare)
	l.after = s.revision
	return entries, nil, nil
}

// Restart moves to the present, and returns all objects that exist, in the order in
// which they were last written, as if they had been created.
func (l *Log) Restart() []Entry {
	s := l.store
	s.mu.RLock()
	defer s.mu.RUnlock()
	l.after = s.revision
	var entries []Entry
	for _, t := range s.tables {
		for _, v := range t.read("", "", s.revision) {
			entries = append(entries, Entry{t, &Event{Type: watch.Added, Current: v}})
		}
	}
	slices.SortFunc(entries, Entry.compare)
	return entries
}
