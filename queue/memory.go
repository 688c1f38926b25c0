package queue

import (
	"time"

	"github.com/kubetyped/informer/internal/container"
	"github.com/kubetyped/informer/internal/timing"
)

const (
	kept       = container.KeptKeys // entries that are kept for ever
	trimPeriod = 30 * time.Second
	trimStep   = 4096 // entries that are looked at before the lock is given up for a moment
)

// entry is what a WorkQueue knows of a key. Times are counted from the making of the queue.
type entry[K comparable] struct {
	key    K
	node   container.Node[entry[K]] // in a flow, among those in work, or among those at rest
	item   container.Item[entry[K]] // among those that are delayed
	tenant *tenant[K]               // whose it is

	priority     int // with which it waits, or was handed out
	nextPriority int // with which it is to wait after its processing, if it is dirty
	duePriority  int // with which it is to wait when its delay ends

	since time.Duration // when it took its place, or was handed out; unknown if the clock was not read
	added time.Duration // when it was first added since it was handed out; for metrics
	state state
}

// unknown is a time for which the clock was not read.
const unknown = time.Duration(-1)

// state is a set of flags. An entry with none of them rests.
type state uint8

const (
	waiting    state = 1 << iota // in a flow
	processing                   // handed out
	dirty                        // added since it was handed out
	delayed                      // to be added when it is due
)

func (e *entry[K]) inState(s state) bool { return e.state&s != 0 }

// keyTable holds the entries of all keys that a WorkQueue knows of. The entries of keys that
// are not wanted now rest: they stay, as a key is likely to come again. Only memory sees them.
// Keys that refer to other values, which they would keep alive, do not rest.
type keyTable[K comparable] struct {
	by      container.Map[K, entry[K]]
	resting container.List[entry[K]]  // the one that has rested longest first
	rest    int                       // how many rest
	spare   container.Spare[entry[K]] // of keys that do not rest
	needed  container.Need            // of entries that do not rest
}

// get returns the entry of a key, nil if there is none. It is quick for the one that has rested
// longest: a resync adds keys in the order in which they were done the last time.
func (t *keyTable[K]) get(key K) *entry[K] {
	if n := t.resting.First; n != nil && n.Of.key == key {
		return n.Of
	}
	return t.by.Get(key)
}

// wanted returns how many entries do not rest.
func (t *keyTable[K]) wanted() int { return t.by.Len() - t.rest }

// getUp ends the rest of an entry.
func (t *keyTable[K]) getUp(e *entry[K]) {
	t.resting.Remove(&e.node)
	t.rest--
}

// keeps returns how many entries are kept.
func (t *keyTable[K]) keeps() int { return max(kept, t.needed.Lately()) }

// rest puts an entry to rest if its key has no place any more. The caller holds mu.
func (q *WorkQueue[K]) rest(e *entry[K]) {
	if e.state != 0 {
		return
	}
	q.keys.resting.Append(&e.node)
	q.keys.rest++
	if q.refers {
		q.forget(e)
		q.keys.spare.Put(e, kept)
	}
}

// forget removes an entry that rests, and frees its key. The caller holds mu.
func (q *WorkQueue[K]) forget(e *entry[K]) {
	q.keys.getUp(e)
	q.keys.by.Delete(e.key)
	q.schedule.tenants.leave(e.tenant)
	*e = entry[K]{}
}

// newEntry returns an entry for a key that has none: the one that has rested longest, if there
// are as many as were needed lately, or else one to spare or a new one. The caller holds mu.
func (q *WorkQueue[K]) newEntry(r *request[K]) *entry[K] {
	var e *entry[K]
	if first := q.keys.resting.First; first != nil && q.keys.by.Len() >= q.keys.keeps() {
		e = first.Of
		q.forget(e)
	} else {
		e = q.keys.spare.Get()
	}
	e.key, e.node.Of, e.item.Of, e.tenant = r.key, e, e, q.schedule.tenants.of(r.tenant)
	q.keys.by.Put(e.key, e)
	return e
}

// memory decides when a WorkQueue gives memory back. While the queue has more than it always
// keeps, it looks every trimPeriod at the entries that it did not need since. The fields are
// guarded by mu.
type memory struct {
	next    time.Duration // when to look, or continue
	inSteps bool          // it is being given back
}

// trimLater makes the queue give memory back from now on, if it has more than is always kept.
// The caller holds mu, and the queue is not shut down.
func (q *WorkQueue[K]) trimLater(now time.Duration) {
	if k := &q.keys.by; q.memory.next == timing.Never && (k.Len() > kept || k.IsLarge() || q.schedule.tenants.by.IsLarge()) {
		q.memory.next = now + trimPeriod
		q.alarm.At(q.memory.next)
	}
}

// trim gives memory back if it is time to, and returns when it next is. The caller holds mu.
func (q *WorkQueue[K]) trim(now time.Duration) time.Duration {
	m := &q.memory
	if now < m.next {
		return m.next
	}
	if !m.inSteps {
		q.keys.needed.Look(q.keys.wanted())
		q.delays.Trim()
	}
	m.inSteps = q.forgetSome() || q.keys.by.Shrink(trimStep) || q.schedule.tenants.by.Shrink(trimStep)
	if !m.inSteps {
		m.next = timing.Never
		q.trimLater(now)
	}
	return m.next
}

// forgetSome takes out entries that have rested longest, if there are more than were needed
// lately. It reports whether there are more of them. The caller holds mu.
func (q *WorkQueue[K]) forgetSome() bool {
	for range trimStep {
		if q.keys.resting.First == nil || q.keys.by.Len() <= q.keys.keeps() {
			return false
		}
		q.forget(q.keys.resting.First.Of)
	}
	return true
}

// letGo gives all memory back if the queue is shut down and empty. The caller holds mu.
func (q *WorkQueue[K]) letGo() {
	if q.shutDown && q.keys.wanted() == 0 {
		q.keys = keyTable[K]{}
		q.delays = container.Heap[entry[K]]{}
		q.schedule = schedule[K]{}
	}
}
