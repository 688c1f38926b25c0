package queue

import (
	"context"
	"sync"
)

// parking is where workers wait for keys. Its fields are guarded by the
// queue's lock.
//
// A worker that is woken is not given a key: it has to look for one, and may
// find that a worker who was awake was faster. At most one is on its way at a
// time; when it has looked and there is more, the next one is woken. So a burst
// of keys does not cost a wake-up each.
type parking struct {
	waiters list[waiter]
	onWay   bool // a worker was woken and has not looked yet
	spares  spares[waiter]
}

type waiter struct {
	parked bool          // guarded by the queue's lock: it is in waiters
	ready  chan struct{} // has room for one
}

// next returns the worker that is to be woken if so many keys wait, nil if none
// is. The caller gives up the lock, then calls wake.
func (p *parking) next(keys int) *node[waiter] {
	if keys == 0 || p.onWay || p.waiters.last == nil {
		return nil
	}
	w := p.waiters.last // slept least: what it needs may still be in caches
	p.waiters.remove(w)
	w.value.parked = false
	p.onWay = true
	return w
}

func wake(w *node[waiter]) {
	if w != nil {
		w.value.ready <- struct{}{}
	}
}

// wakeAll wakes every worker. The caller holds the lock.
func (p *parking) wakeAll() {
	for w := p.waiters.first; w != nil; w = p.waiters.first {
		p.waiters.remove(w)
		w.value.parked = false
		wake(w)
	}
}

// wait blocks until the worker is woken, or ctx ends. The caller holds mu, which
// is given up meanwhile.
func (p *parking) wait(ctx context.Context, mu *sync.Mutex) {
	w := p.spares.take()
	if w.value.ready == nil {
		w.value.ready = make(chan struct{}, 1)
	}
	w.value.parked = true
	p.waiters.append(w)
	mu.Unlock()

	ended := false
	select {
	case <-w.value.ready:
	case <-ctx.Done():
		ended = true
	}

	mu.Lock()
	if w.value.parked {
		p.waiters.remove(w)
		w.value.parked = false
	} else {
		if ended {
			<-w.value.ready // it comes, since wake needs no lock
		}
		p.onWay = false
	}
	p.spares.keep(w)
}
