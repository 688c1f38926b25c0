package reference

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/monitor"
)

// Watch calls a function with each change of a state, in order for a key, from now on: when a
// key has its first answer, with each change after that, and with the zero State when the key
// is dropped. Reads of the informer reflect the state, or a newer one. A failure that is no
// refusal, such as that of a network, changes no state.
//
// The function is called by one goroutine, when the informer runs. It may take its time, and
// call Get: a key that changes several times meanwhile is reported once, with its last state.
// When stop returns, the function does not run and is not called any more; if it is the function
// that calls stop, it is only not called any more.
func (s *keys[T]) Watch(f func(index.Key, State)) (stop func()) {
	if f == nil {
		return func() {}
	}
	return s.watchers.join(f)
}

// watchers are who watches states.
type watchers struct {
	wake chan struct{} // there are changes
	some atomic.Int32  // the length of all

	mu      sync.Mutex
	all     []*watcher        // guarded by mu; replaced, not changed
	changes []change          // guarded by mu; one a key at most
	at      map[index.Key]int // guarded by mu; the places of keys in changes
	id      uint64            // guarded by mu: the goroutine that calls
}

// watcher is one of them.
type watcher struct {
	f       func(index.Key, State)
	calling monitor.LongLock // while f runs
	stopped atomic.Bool
}

// change is a change of a state.
type change struct {
	key   index.Key
	state State
	first bool // the key had no state before
}

func (w *watchers) join(f func(index.Key, State)) (stop func()) {
	one := &watcher{f: f, calling: monitor.NewLongLock()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(slices.Clip(w.all), one)
	w.some.Store(int32(len(w.all)))
	for i := range w.changes { // of keys that this one may know already
		w.changes[i].first = false
	}
	return func() {
		one.stopped.Store(true)
		if w.leave(one) == goroutine.ID() {
			return
		}
		one.calling.Lock()
		defer one.calling.Unlock()
	}
}

// leave removes a watcher, and returns the goroutine that calls.
func (w *watchers) leave(one *watcher) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = slices.DeleteFunc(slices.Clone(w.all), func(other *watcher) bool { return other == one })
	w.some.Store(int32(len(w.all)))
	if len(w.all) == 0 {
		w.changes = nil
		clear(w.at)
	}
	return w.id
}

// add adds a change to report, in place of an earlier one of the key that is not reported yet.
// First says that the key had no state before: one that came and went meanwhile is not reported.
// It does not wait.
func (w *watchers) add(key index.Key, state State, first bool) {
	if w.some.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	at, waits := w.at[key]
	switch {
	case !waits:
		w.at[key] = len(w.changes)
		w.changes = append(w.changes, change{key, state, first})
	case state.Phase == 0 && w.changes[at].first:
		last := len(w.changes) - 1
		w.changes[at] = w.changes[last]
		w.at[w.changes[at].key] = at
		w.changes = w.changes[:last]
		delete(w.at, key)
	default:
		w.changes[at].state = state
	}
	monitor.Wake(w.wake)
}

// take returns the changes to report, and to whom.
func (w *watchers) take() (changes []change, all []*watcher) {
	w.mu.Lock()
	defer w.mu.Unlock()
	changes, all = w.changes, w.all
	w.changes = nil
	clear(w.at)
	return changes, all
}

// run reports changes until ctx ends.
func (w *watchers) run(ctx context.Context) {
	w.mu.Lock()
	w.id = goroutine.ID()
	w.mu.Unlock()
	for {
		select {
		case <-w.wake:
		case <-ctx.Done():
			return
		}
		changes, all := w.take()
		for _, c := range changes {
			for _, one := range all {
				if ctx.Err() == nil {
					one.report(c)
				}
			}
		}
	}
}

func (one *watcher) report(c change) {
	one.calling.Lock()
	defer one.calling.Unlock()
	if !one.stopped.Load() {
		goroutine.CallSafely(func() { one.f(c.key, c.state) })
	}
}
