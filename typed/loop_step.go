package typed

import (
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/queue"
)

// step applies changes that belong together, and then calls their Done.
func (l *loop[T]) step(together *queue.List[T], version string) {
	if together.Part {
		l.informer.lists.begin("")
	}
	for i := range together.Changes {
		if d := &together.Changes[i]; !together.Part || !l.isUnchanged(d) {
			l.collect(d)
		}
	}
	l.flush(version)
	if together.Part {
		l.informer.lists.end()
	}
	if together.Done != nil {
		goroutine.CallSafely(together.Done)
	}
}

// isUnchanged reports whether a list has brought what the store has, and that is to be left
// out. A part may be listed by another server than before, which counts otherwise, so the
// object has to be the same one.
func (l *loop[T]) isUnchanged(d *queue.Delta[T]) (unchanged bool) {
	if !l.informer.changedOnly || d.Type != queue.Put {
		return false
	}
	defer func() {
		if p := recover(); p != nil { // of a method of an object
			unchanged = false
			goroutine.Crash(l.informer.ctx, p)
		}
	}()
	key, _, ok := identify(d.Object)
	if !ok {
		return false
	}
	have, ok := l.informer.store.Get(key)
	return ok && isSame(have, d.Object)
}
