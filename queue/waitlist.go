package queue

// waitList has the workers that sleep until there is a key. Its fields are guarded by the
// queue's lock.
//
// A worker that is woken is not given a key: it has to look for one, and may find that a
// worker that was awake was faster. At most one worker is being woken at a time; when it
// has looked and there is more, it wakes the next one. So a burst of keys does not cost a
// wake-up each.
type waitList struct {
	sleeping []*waiter
	waking   bool // a worker was woken and has not looked yet
	free     []*waiter
}

// maxFree is how many waiters are kept to be used again.
const maxFree = 1024

type waiter struct {
	place int           // guarded by the queue's lock; in sleeping, awake if it is not there
	ready chan struct{} // has room for one
}

const awake = -1

// next returns the worker to wake when the given number of keys wait, nil if there is none.
// The caller gives up the lock, then calls wake.
func (l *waitList) next(keys int) *waiter {
	if keys == 0 || l.waking || len(l.sleeping) == 0 {
		return nil
	}
	l.waking = true
	w := l.sleeping[len(l.sleeping)-1] // slept least: what it needs may still be in caches
	l.remove(w)
	return w
}

func wake(w *waiter) {
	if w != nil {
		w.ready <- struct{}{}
	}
}

// wakeAll wakes every worker.
func (l *waitList) wakeAll() {
	for len(l.sleeping) > 0 {
		w := l.sleeping[len(l.sleeping)-1]
		l.remove(w)
		wake(w)
	}
}

// add notes that a worker is about to sleep.
func (l *waitList) add() *waiter {
	var w *waiter
	if n := len(l.free); n > 0 {
		w, l.free = l.free[n-1], l.free[:n-1]
	} else {
		w = &waiter{ready: make(chan struct{}, 1)}
	}
	w.place = len(l.sleeping)
	l.sleeping = append(l.sleeping, w)
	return w
}

// remove makes a sleeping worker one that is awake.
func (l *waitList) remove(w *waiter) {
	last := len(l.sleeping) - 1
	l.sleeping[w.place] = l.sleeping[last]
	l.sleeping[w.place].place = w.place
	l.sleeping[last] = nil
	l.sleeping = l.sleeping[:last]
	w.place = awake
}

// leave notes that a worker has ceased to sleep; ended tells that it was not woken, but its
// context has ended.
func (l *waitList) leave(w *waiter, ended bool) {
	if w.place != awake {
		l.remove(w)
	} else {
		if ended {
			<-w.ready // it comes, since wake needs no lock
		}
		l.waking = false
	}
	if len(l.free) < maxFree {
		l.free = append(l.free, w)
	}
}
