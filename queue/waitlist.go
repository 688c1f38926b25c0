package queue

import (
	"context"
	"sync"
)

// waitList has the workers that sleep until there is a key. Its fields are
// guarded by the queue's lock.
//
// A worker that is woken is not given a key: it has to look for one, and may find
// that a worker that was awake was faster. At most one worker is being woken at a
// time; when it has looked and there is more, it wakes the next one. So a burst of
// keys does not cost a wake-up each.
type waitList struct {
	sleeping list[waiter]
	waking   bool // a worker was woken and has not looked yet
	free     freeList[waiter]
}

type waiter struct {
	asleep bool          // guarded by the queue's lock: it is in sleeping
	ready  chan struct{} // has room for one
}

// next returns the worker to wake when the given number of keys wait, nil if there
// is none. The caller gives up the lock, then calls wake.
func (l *waitList) next(keys int) *node[waiter] {
	if keys == 0 || l.waking || l.sleeping.last == nil {
		return nil
	}
	w := l.sleeping.last // slept least: what it needs may still be in caches
	l.sleeping.remove(w)
	w.value.asleep = false
	l.waking = true
	return w
}

func wake(w *node[waiter]) {
	if w != nil {
		w.value.ready <- struct{}{}
	}
}

// wakeAll wakes every worker. The caller holds the lock.
func (l *waitList) wakeAll() {
	for w := l.sleeping.first; w != nil; w = l.sleeping.first {
		l.sleeping.remove(w)
		w.value.asleep = false
		wake(w)
	}
}

// wait blocks until the worker is woken, or ctx ends. The caller holds mu, which
// is given up meanwhile.
func (l *waitList) wait(ctx context.Context, mu *sync.Mutex) {
	w := l.free.get()
	if w.value.ready == nil {
		w.value.ready = make(chan struct{}, 1)
	}
	w.value.asleep = true
	l.sleeping.append(w)
	mu.Unlock()

	ended := false
	select {
	case <-w.value.ready:
	case <-ctx.Done():
		ended = true
	}

	mu.Lock()
	if w.value.asleep {
		l.sleeping.remove(w)
		w.value.asleep = false
	} else {
		if ended {
			<-w.value.ready // it comes, since wake needs no lock
		}
		l.waking = false
	}
	l.free.put(w)
}
