package queue

import "time"

// KeyState is what a WorkQueue knows of one key. The zero KeyState is that of a key of which it
// knows nothing: it does not wait, and did not fail when it was processed last, if ever.
type KeyState struct {
	// Waiting is when the key took its place among those that wait, zero if it does not wait.
	Waiting time.Time
	// InWork is when it was handed out, zero if it is not being processed. InWork.Began tells
	// how exact that is.
	InWork time.Time
	// Dirty tells that it was added while it is being processed, and will wait again.
	Dirty bool
	// Priority is the one with which it waits, or will if it is Dirty, or else with which it
	// was handed out or will be added when its delay ends.
	Priority int
	// DelayedUntil is when it is to be added, zero if it is not delayed.
	DelayedUntil time.Time
	// Failing tells how it fails, nil if it does not.
	Failing *Failing
}

// KeyState returns what the queue knows of a key. The caller owns it. It costs about as much as
// an Add.
func (q *WorkQueue[K]) KeyState(key K) (s KeyState) {
	if q.validate(key) != nil {
		return s
	}
	s.Failing = q.failures.of(key)
	q.lock()
	defer q.unlock()
	e := q.keys.by.Get(key)
	if e == nil {
		return s
	}
	if e.inState(delayed) {
		s.DelayedUntil, s.Priority = q.time.At(q.delays.Due(&e.item)), e.duePriority
	}
	if e.inState(processing) {
		s.InWork, s.Priority = q.time.At(q.began(e, q.time.Now())), e.priority
	}
	if e.inState(dirty) {
		s.Dirty, s.Priority = true, e.nextPriority
	}
	if e.inState(waiting) {
		s.Waiting, s.Priority = q.time.At(e.since), e.priority
	}
	return s
}
