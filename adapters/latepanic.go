package adapters

import (
	"slices"
	"sync"

	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
)

// latePanics puts off panics of index functions until the objects are stored, as client-go
// stores an object before it calls them. A panic that a user's write causes is raised in the
// user's call; any other is raised by the informer's goroutine after handlers have received the
// objects.
type latePanics[T cache.Object] struct {
	mu     sync.Mutex
	writes []*userWrite[T] // guarded by mu; those in progress
	other  *any            // guarded by mu; the first panic for a received object
}

// userWrite is a call of the store's methods that write.
type userWrite[T cache.Object] struct {
	changes  []index.Change[T]
	events   []index.Event[T] // discarded; kept to reuse their memory
	list     []T
	indexers cache.Indexers // that are added

	panicked bool // guarded by latePanics.mu
	first    any  // guarded by latePanics.mu
	listed   int  // guarded by latePanics.mu; where in list the last panic was
}

// causes reports whether the write is why the function of an index is called.
func (w *userWrite[T]) causes(name string, obj T) bool {
	if _, ok := w.indexers[name]; ok {
		return true
	}
	for _, start := range []int{w.listed, 0} { // functions are called in about this order
		if i := slices.Index(w.list[start:], obj); i >= 0 {
			w.listed = start + i
			return true
		}
	}
	return slices.ContainsFunc(w.changes, func(c index.Change[T]) bool { return index.Same(c.Object, obj) })
}

// catch is deferred by the function of an index.
func (l *latePanics[T]) catch(name string, obj T) {
	p := recover()
	if p == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.writes {
		if w.causes(name, obj) {
			if !w.panicked {
				w.panicked, w.first = true, p
			}
			return
		}
	}
	if l.other == nil {
		kept := p // p itself would be on the heap in every call
		l.other = &kept
	}
}

// begin is called before a write, and deferred end after it; that raises the first
// panic that the write has caused. A nil l does not put off anything.
func (l *latePanics[T]) begin(w *userWrite[T]) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes = append(l.writes, w)
}

func (l *latePanics[T]) end(w *userWrite[T]) {
	if l == nil {
		return
	}
	l.mu.Lock()
	l.writes = slices.DeleteFunc(l.writes, func(other *userWrite[T]) bool { return other == w })
	l.mu.Unlock()
	if w.panicked {
		panic(w.first)
	}
}

// raise panics if an index function has, for an object that was received, since
// it was last called.
func (l *latePanics[T]) raise() {
	l.mu.Lock()
	other := l.other
	l.other = nil
	l.mu.Unlock()
	if other != nil {
		panic(*other)
	}
}
