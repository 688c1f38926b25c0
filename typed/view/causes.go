package view

import "github.com/kubetyped/informer/index"

// causes are the reasons of what has changed in a step, by number, as far as they are others
// than that the server has told of it: there are few of them, most often none.
//
// Of several reasons for one change, one that says that an object may still exist comes
// first: what a cluster that leaves takes along is not deleted.
type causes map[uint32]index.Reason

// note notes one more reason.
func (c *causes) note(number uint32, reason index.Reason) {
	if reason <= index.Watched {
		return
	}
	if *c == nil {
		*c = causes{}
	}
	(*c)[number] = max((*c)[number], reason)
}

// of returns the reason of a number, 0 if there was none but the usual one.
func (c *causes) of(number uint32) index.Reason { return (*c)[number] }

// forget ends a step.
func (c *causes) forget() {
	if len(*c) > 0 {
		*c = nil
	}
}

// reasonFor is the reason of an event, for what was caused by one of another object: what
// goes because something has come from elsewhere goes there, and the other way round. The
// first list is over when there is something to tell.
func reasonFor[T index.Object](c change[T]) index.Reason {
	var none T
	switch {
	case c.reason == index.Initial:
		return index.Relisted
	case index.Same(c.now, none) && c.reason == index.Acquired:
		return index.Released
	case index.Same(c.old, none) && (c.reason == index.Released || c.reason == index.OutOfScope):
		return index.Acquired
	}
	return c.reason
}
