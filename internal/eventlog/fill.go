package eventlog

import (
	"slices"

	"github.com/kubetyped/informer/index"
)

// Fill adds events of one reader's own to those that it has pending: events that
// say how things were at one moment, when the Fill was begun. It takes its time,
// and leaves out what is not so any more.
type Fill[T index.Object] struct {
	c       *Coalescer[T]
	changed map[index.Key]struct{} // guarded by mu of c; the keys of later events
}

// Fill begins a Fill, which has to be ended. The caller ensures that nothing is appended to
// the log between the moment that the events describe and this call.
func (c *Coalescer[T]) Fill() *Fill[T] {
	f := &Fill[T]{c: c, changed: map[index.Key]struct{}{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fills = append(c.fills, f)
	return f
}

// Offer appends e, unless there is a pending event of its key, or was one since the
// Fill was begun.
func (f *Fill[T]) Offer(e index.Event[T]) {
	c := f.c
	k := e.Key()
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, changed := f.changed[k]; changed || c.pending[k] != nil || c.closed {
		return
	}
	c.append(k, e)
	c.wake()
}

// End ends the Fill.
func (f *Fill[T]) End() {
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	f.c.fills = slices.DeleteFunc(f.c.fills, func(other *Fill[T]) bool { return other == f })
}
