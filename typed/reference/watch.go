package reference

import (
	"context"
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
// call Get. When stop returns, the function does not run and is not called any more; if it is
// the function that calls stop, it is only not called any more.
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
	all     []*watcher // guarded by mu; replaced, not changed
	changes []change   // guarded by mu
	id      uint64     // guarded by mu: the goroutine that calls
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
}

func (w *watchers) join(f func(index.Key, State)) (stop func()) {
	one := &watcher{f: f, calling: monitor.NewLongLock()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all[:len(w.all):len(w.all)], one)
	w.some.Store(int32(len(w.all)))
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
	var left []*watcher
	for _, other := range w.all {
		if other != one {
			left = append(left, other)
		}
	}
	w.all = left
	w.some.Store(int32(len(left)))
	return w.id
}

// add adds a change to report. It does not wait.
func (w *watchers) add(key index.Key, state State) {
	if w.some.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changes = append(w.changes, change{key, state})
	select {
	case w.wake <- struct{}{}:
	default: // a goroutine is at it
	}
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
		w.mu.Lock()
		changes, all := w.changes, w.all
		w.changes = nil
		w.mu.Unlock()
		for _, c := range changes {
			for _, one := range all {
				if ctx.Err() == nil {
					one.tell(c)
				}
			}
		}
	}
}

func (one *watcher) tell(c change) {
	one.calling.Lock()
	defer one.calling.Unlock()
	if !one.stopped.Load() {
		goroutine.CallSafely(func() { one.f(c.key, c.state) })
	}
}
