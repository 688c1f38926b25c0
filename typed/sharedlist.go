package typed

import (
	"slices"
	"sync/atomic"
)

// sharedList is a list that does not change once it is stored, so that readers need no lock:
// they look at a pointer. Its writers hold the informer's lock.
type sharedList[E any] struct {
	list atomic.Pointer[[]E] // nil: the list is empty
}

// some reports whether there are elements.
func (l *sharedList[E]) some() bool { return l.list.Load() != nil }

// all returns the elements, in the order in which they came.
func (l *sharedList[E]) all() []E {
	if list := l.list.Load(); list != nil {
		return *list
	}
	return nil
}

func (l *sharedList[E]) add(one E) {
	list := append(slices.Clip(l.all()), one)
	l.list.Store(&list)
}

// remove removes an element, and reports whether it was there.
func (l *sharedList[E]) remove(is func(one E) bool) bool {
	before := l.all()
	list := slices.DeleteFunc(slices.Clone(before), is)
	if len(list) > 0 {
		l.list.Store(&list)
	} else {
		l.list.Store(nil)
	}
	return len(list) < len(before)
}

// takeAll removes all elements, and returns them.
func (l *sharedList[E]) takeAll() []E {
	list := l.all()
	l.list.Store(nil)
	return list
}
