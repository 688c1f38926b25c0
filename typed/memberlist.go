package typed

import (
	"slices"
	"sync/atomic"

	"github.com/kubetyped/informer/index"
)

// memberList has the handlers of an informer. Its writers hold the informer's lock;
// it can be read without that, since a list does not change once it is stored.
type memberList[T index.Object] struct {
	list atomic.Pointer[[]*member[T]]
}

// all returns the handlers, in the order in which they came.
func (l *memberList[T]) all() []*member[T] {
	if list := l.list.Load(); list != nil {
		return *list
	}
	return nil
}

func (l *memberList[T]) add(m *member[T]) {
	list := append(slices.Clip(l.all()), m)
	l.list.Store(&list)
}

func (l *memberList[T]) remove(r *Registration) {
	list := slices.DeleteFunc(slices.Clone(l.all()), func(m *member[T]) bool { return m.Registration == r })
	l.list.Store(&list)
}

// takeAll removes the handlers, and returns them.
func (l *memberList[T]) takeAll() []*member[T] {
	list := l.all()
	l.list.Store(nil)
	return list
}
