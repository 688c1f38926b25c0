package adapters

import "sync/atomic"

// latePanic puts off panics of index functions until the objects are stored, as
// client-go stores an object before it calls them.
type latePanic struct{ first atomic.Pointer[any] }

// catch is deferred by what may panic.
func (l *latePanic) catch() {
	if p := recover(); p != nil {
		kept := p // p itself would be on the heap in every call
		l.first.CompareAndSwap(nil, &kept)
	}
}

// raise panics if there was a panic since it was last called.
func (l *latePanic) raise() {
	if p := l.first.Swap(nil); p != nil {
		panic(*p)
	}
}
