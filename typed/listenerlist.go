package typed

import (
	"slices"
	"sync/atomic"

	"github.com/kubetyped/informer/index"
)

// listenerList contains the handlers of an informer. Its writers hold the informer's lock;
// readers need no lock, since a list does not change once it is stored.
type listenerList[T index.Object] struct {
	list atomic.Pointer[[]*listener[T]]
}

// all returns the handlers, in the order in which they came.
func (l *listenerList[T]) all() []*listener[T] {
	if list := l.list.Load(); list != nil {
		return *list
	}
	return nil
}

func (l *listenerList[T]) add(one *listener[T]) {
	list := append(slices.Clip(l.all()), one)
	l.list.Store(&list)
}

func (l *listenerList[T]) remove(r *Registration) {
	list := slices.DeleteFunc(slices.Clone(l.all()), func(one *listener[T]) bool { return one.registration == r })
	l.list.Store(&list)
}

// takeAll removes the handlers, and returns them.
func (l *listenerList[T]) takeAll() []*listener[T] {
	list := l.all()
	l.list.Store(nil)
	return list
}
