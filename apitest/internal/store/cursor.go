package store

import "slices"

// Cursor is a place in the history of a table. It is not safe for concurrent
// use; make one for each watch. It holds nothing that needs closing.
type Cursor struct {
	table *Table
	next  int    // position of the next event, as Table.base counts
	after uint64 // events up to here are skipped
	bound uint64 // events after it are not seen yet; 0: none
}

// Bound has Next return nothing after a revision; 0 lifts that.
func (c *Cursor) Bound(revision uint64) { c.bound = revision }

// Batch is what a cursor found.
type Batch struct {
	// Events are the next events, in order, possibly none.
	Events []*Event
	// Revision is how far the cursor's owner has seen the resource once it has
	// handled Events: no event of an earlier or equal revision follows.
	Revision uint64
	// Changed, set when Events is empty, is closed at the next event. It is nil when
	// the next event is after the cursor's bound.
	Changed <-chan struct{}
}

// Watch returns a cursor after the revision. It returns ErrCompacted when events
// after it have been forgotten. A revision in the future is no error: what is
// written up to it is skipped.
func (t *Table) Watch(after uint64) (*Cursor, error) {
	t.store.mu.RLock()
	defer t.store.mu.RUnlock()
	if after < t.compacted {
		return nil, ErrCompacted
	}
	return &Cursor{table: t, next: t.base + upTo(t.events, after), after: after}, nil
}

// ListAndWatch returns the present state of the keys with the prefix, in order,
// its revision, and a cursor from there.
func (t *Table) ListAndWatch(prefix string) ([]*Version, uint64, *Cursor) {
	t.store.mu.RLock()
	defer t.store.mu.RUnlock()
	revision := t.store.revision
	return t.read(prefix, prefix, revision), revision,
		&Cursor{table: t, next: t.base + len(t.events), after: revision}
}

// ListAndWatchAt is ListAndWatch as of a revision. It returns ErrCompacted or
// ErrFuture for one that it cannot read.
func (t *Table) ListAndWatchAt(prefix string, revision uint64) ([]*Version, *Cursor, error) {
	found, _, err := t.List(prefix, prefix, revision)
	if err != nil {
		return nil, nil, err
	}
	cursor, err := t.Watch(revision)
	return found, cursor, err
}

// Oldest returns the revision from which the table can still be watched.
func (t *Table) Oldest() uint64 {
	t.store.mu.RLock()
	defer t.store.mu.RUnlock()
	return t.compacted
}

// Next returns up to limit further events and moves behind them. It returns
// ErrCompacted when they have been forgotten meanwhile.
func (c *Cursor) Next(limit int) (Batch, error) {
	t := c.table
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	if c.next < t.base {
		return Batch{}, ErrCompacted
	}
	pending := t.events[c.next-t.base:]
	for len(pending) > 0 && pending[0].Revision() <= c.after {
		pending = pending[1:]
		c.next++
	}
	present := t.store.revision
	if c.bound > 0 && c.bound < present {
		present = c.bound
		if pending = pending[:upTo(pending, present)]; len(pending) == 0 {
			return Batch{Revision: max(present, c.after)}, nil
		}
	}
	if len(pending) == 0 {
		if t.changed == nil {
			t.changed = make(chan struct{})
		}
		return Batch{Revision: max(present, c.after), Changed: t.changed}, nil
	}
	pending = slices.Clone(pending[:min(limit, len(pending))])
	c.next += len(pending)
	return Batch{Events: pending, Revision: pending[len(pending)-1].Revision()}, nil
}
