package queue

import (
	"time"

	"github.com/kubetyped/informer/internal/shrink"
)

const (
	kept       = shrink.Kept // entries that are kept for ever
	trimPeriod = 30 * time.Second
	trimStep   = 4096 // entries that are looked at before the lock is given up for a moment
)

// need is how much of something was needed, in this period and the one before.
type need struct{ now, before int }

func (n *need) note(much int) { n.now = max(n.now, much) }
func (n *need) look(much int) { n.before, n.now = n.now, much }
func (n *need) lately() int   { return max(n.now, n.before) }

// keyTable has the entries of all keys that a WorkQueue knows of. Those of keys that are not
// wanted now rest: they stay, as a key is likely to come again. Only memory sees them. Keys
// that refer to other values, which they would keep alive, do not rest.
//
// It is a map by the keys' hashes, and not by the keys: a map that grows computes the hash
// of each key that it moves anew, and so would look at each of them in memory.
type keyTable[K comparable] struct {
	by      shrink.Steps[uint32, entry[K]]
	len     int
	resting list[entry[K]] // the one that has rested longest first
	rest    int            // how many rest
	spare   []*entry[K]    // of keys that do not rest
	needed  need           // of entries that do not rest
}

// get returns the entry of a key, nil if there is none.
func (t *keyTable[K]) get(key K, hash uint32) *entry[K] {
	e := t.by.Get(hash)
	for e != nil && e.key != key {
		e = e.same
	}
	return e
}

// put adds an entry for a key that has none.
func (t *keyTable[K]) put(e *entry[K]) {
	e.same = t.by.Get(e.hash)
	t.by.Put(e.hash, e)
	t.len++
}

// wanted returns how many entries do not rest.
func (t *keyTable[K]) wanted() int { return t.len - t.rest }

// getUp ends the rest of an entry.
func (t *keyTable[K]) getUp(e *entry[K]) {
	t.resting.remove(&e.node)
	t.rest--
}

// keeps returns how many entries are kept.
func (t *keyTable[K]) keeps() int { return max(kept, t.needed.lately()) }

// delete takes out an entry that rests.
func (t *keyTable[K]) delete(e *entry[K]) {
	t.getUp(e)
	t.len--
	first := t.by.Get(e.hash)
	switch {
	case first != e:
		for first.same != e {
			first = first.same
		}
		first.same = e.same
	case e.same != nil:
		t.by.Put(e.hash, e.same)
	default:
		t.by.Delete(e.hash)
	}
}

// rest puts the entry of a key to rest that neither waits nor is delayed or in process. The
// caller holds mu.
func (q *WorkQueue[K]) rest(e *entry[K]) {
	q.keys.resting.append(&e.node)
	q.keys.rest++
	if q.refers {
		q.forget(e)
		if len(q.keys.spare) < kept {
			q.keys.spare = append(q.keys.spare, e)
		}
	}
}

// forget takes an entry that rests out, and lets go of its key. The caller holds mu.
func (q *WorkQueue[K]) forget(e *entry[K]) {
	q.keys.delete(e)
	q.schedule.tenants.leave(e.tenant)
	*e = entry[K]{}
}

// newEntry returns an entry for a key that has none: a new one, one to spare, or the one
// that has rested longest, if there are as many as were needed lately. The caller holds mu.
func (q *WorkQueue[K]) newEntry(r *request[K]) *entry[K] {
	var e *entry[K]
	if n := len(q.keys.spare); n > 0 {
		e, q.keys.spare = q.keys.spare[n-1], q.keys.spare[:n-1]
	} else if first := q.keys.resting.first; first != nil && q.keys.len >= q.keys.keeps() {
		e = first.of
		q.forget(e)
	} else {
		e = &entry[K]{}
	}
	e.key, e.hash, e.node.of, e.tenant = r.key, r.hash, e, q.schedule.tenants.of(r.tenant)
	q.keys.put(e)
	return e
}

// memory tells when a WorkQueue gives memory back. While it has more than it always keeps,
// it looks every trimPeriod at what it did not need since it last did. Its fields are
// guarded by the queue's lock.
type memory struct {
	active  bool          // there is more than what is always kept
	inSteps bool          // it is being given back
	next    time.Duration // when to go on
}

// isLarge reports whether there is more memory than is always kept. The caller holds mu.
func (q *WorkQueue[K]) isLarge() bool {
	return q.keys.len > kept || q.keys.by.IsLarge() || q.schedule.tenants.by.IsLarge()
}

// trimLater makes the queue give memory back from now on, if it has much. The caller holds
// mu, and the queue is not shut down.
func (q *WorkQueue[K]) trimLater(now time.Duration) {
	if !q.memory.active && q.isLarge() {
		q.memory.active, q.memory.next = true, now+trimPeriod
		q.wakeAt(q.memory.next)
	}
}

// trim gives memory back if it is time to. It reports whether it is to be called again, at
// memory.next. The caller holds mu.
func (q *WorkQueue[K]) trim(now time.Duration) bool {
	m := &q.memory
	if !m.active || now < m.next {
		return m.active
	}
	if !m.inSteps {
		q.keys.needed.look(q.keys.wanted())
		q.delays.trim()
	}
	m.inSteps = q.forgetSome() || q.keys.by.Shrink(trimStep) || q.schedule.tenants.by.Shrink(trimStep)
	if !m.inSteps {
		m.next = now + trimPeriod
		m.active = q.isLarge()
	}
	return m.active
}

// forgetSome takes out entries that have rested longest, if there are more than were needed
// lately. It reports whether there are more of them. The caller holds mu.
func (q *WorkQueue[K]) forgetSome() bool {
	for range trimStep {
		if q.keys.resting.first == nil || q.keys.len <= q.keys.keeps() {
			return false
		}
		q.forget(q.keys.resting.first.of)
	}
	return true
}

// letGo gives all memory back if the queue is shut down and no key is in it. The caller
// holds mu.
func (q *WorkQueue[K]) letGo() {
	if q.shutDown && q.keys.wanted() == 0 {
		q.keys = keyTable[K]{}
		q.delays = delayHeap[K]{}
		q.schedule = schedule[K]{}
	}
}
