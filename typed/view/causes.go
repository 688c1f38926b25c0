package view

import "github.com/kubetyped/informer/index"

// causes are the reasons for the changes of a step, by number or key, as far as they differ from
// the usual one, that the server has reported the change: there are few of them, most often none.
//
// Of several reasons for one change, one that says that an object may still exist comes first:
// objects that leave with their cluster are not deleted.
type causes[N comparable] map[N]index.Reason

// note notes one more reason.
func (c *causes[N]) note(number N, reason index.Reason) {
	if reason <= index.Watched {
		return
	}
	if *c == nil {
		*c = causes[N]{}
	}
	(*c)[number] = max((*c)[number], reason)
}

// of returns the reason of a number, 0 if there was none but the usual one.
func (c *causes[N]) of(number N) index.Reason { return (*c)[number] }

// forget ends a step.
func (c *causes[N]) forget() {
	if len(*c) > 0 {
		*c = nil
	}
}

// reasonFor returns the reason of an event that a change of another object has caused. An
// object that goes because the other one was acquired is released, and the other way round. An
// event that the first list has caused gets Relisted: by then, that list is over.
func reasonFor[T index.Object](c change[T]) index.Reason {
	switch {
	case c.reason == index.Initial:
		return index.Relisted
	case isNone(c.now) && c.reason == index.Acquired:
		return index.Released
	case isNone(c.old) && (c.reason == index.Released || c.reason == index.OutOfScope):
		return index.Acquired
	}
	return c.reason
}
