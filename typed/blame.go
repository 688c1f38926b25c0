package typed

import (
	"context"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/source"
)

// applyOthers applies changes without those that are to blame for a panic, which are rejected. The
// others are applied together, as they may be a step.
func (l *loop[T]) applyOthers(changes []index.Change[T], panicked any, version string) {
	if len(changes) == 1 {
		l.applyEach(changes, panicked, version)
		return
	}
	others, blamed := l.blame(changes)
	last := map[index.Key]int{} // by key, which of the others is the last
	for n := range changes {
		if key, ok := keyOf(&changes[n]); ok && blamed[n] == nil {
			last[key] = n
		}
	}
	reject := func(after bool) {
		for n, panicked := range blamed {
			key, _ := keyOf(&changes[n])
			if at, ok := last[key]; panicked != nil && after == (ok && at < n) {
				l.reject(changes[n].Object, panicked, false)
			}
		}
	}
	reject(false) // before the others are applied: a later state of the same key ends its rejection
	if panicked := l.apply(others, version); panicked != nil {
		l.applyEach(others, panicked, version)
	}
	reject(true)
}

// blame returns those of some changes that do not panic by themselves, and what each of the
// changes has panicked with, nil if it has not.
func (l *loop[T]) blame(changes []index.Change[T]) (others []index.Change[T], blamed []error) {
	blamed = make([]error, len(changes))
	reported := false // the first was, with its stack
	for n, c := range changes {
		if !c.Delete && c.UID == nil { // else it may not be stored
			blamed[n] = l.informer.store.Panics(c.Object)
		}
		switch {
		case blamed[n] == nil:
			others = append(others, c)
		case reported:
			goroutine.Report(l.informer.ctx, blamed[n])
		default:
			reported = true
		}
	}
	return others, blamed
}

// keyOf returns the key of a change, false if a method of its object panics.
func keyOf[T index.Object](c *index.Change[T]) (key index.Key, ok bool) {
	if c.Delete && c.Key != nil {
		return *c.Key, true
	}
	key, _, ok = identify(c.Object)
	return key, ok
}

// leaveOut takes the objects out of a list for which an index function, or a method
// of theirs, panics, and rejects them. The store keeps what it has of them. It
// returns their keys, and whether others are left.
func (l *loop[T]) leaveOut(list *queue.List[T]) (rejected []index.Key, left bool) {
	all := list.Objects
	list.Objects = make([]T, 0, len(all))
	for _, obj := range all {
		panicked := l.informer.store.Panics(obj)
		if panicked == nil {
			list.Objects = append(list.Objects, obj)
			left = true
			continue
		}
		if len(rejected) > 0 { // the first was, with its stack
			goroutine.Report(l.informer.ctx, panicked)
		}
		key := l.reject(obj, panicked, true)
		rejected = append(rejected, key)
		if old, ok := l.informer.store.Get(key); ok {
			list.Objects = append(list.Objects, old)
		}
	}
	return rejected, left
}

// reject rejects an object that could not be stored, and returns its key, as far as
// it has one.
func (l *loop[T]) reject(obj T, panicked any, listed bool) index.Key {
	rejected := &source.RejectedError{Informer: l.informer.name, Listed: listed, Err: &goroutine.PanicError{Of: "an index function, or a method of the object,", Value: panicked}}
	if key, version, ok := identify(obj); ok {
		rejected.Key, rejected.ResourceVersion = key, version
	}
	l.informer.health.reject(l.informer.ctx, rejected, byLoop)
	return rejected.Key
}

// report reports a panic, unless it is the one that has had changes applied one by one.
func (l *loop[T]) report(panicked any) {
	if l.known {
		l.known = false
		return
	}
	goroutine.Crash(l.informer.ctx, panicked)
}

// crashed ends the informer after a panic of its goroutine outside of any user function: Run
// returns the panic, instead of continuing with lost events.
func (l *loop[T]) crashed(_ context.Context, panicked any) {
	l.crashes = true
	(*l.informer.ending.Load())(&goroutine.PanicError{Of: "the informer's own goroutine", Value: panicked})
}

// identify returns the key and the resource version of an object, false if its
// methods panic.
func identify[T index.Object](obj T) (key index.Key, version string, ok bool) {
	defer func() { ok = recover() == nil }()
	key = index.KeyOf(obj)
	version = versionOf(obj)
	return key, version, true
}
