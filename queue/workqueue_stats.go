package queue

import "time"

// Stats is the state of a WorkQueue at one moment.
type Stats struct {
	Waiting int // keys that wait to be handed out; it is what Len returns
	// InFlight is the number of keys that are being processed, Dirty that of those among them
	// that were added meanwhile and will wait again. Waiting and Dirty together are what
	// client-go's metric calls the depth.
	InFlight, Dirty int
	Delayed         int // keys that are to be added later; they may wait or be in process as well
	// OldestAge is the time for which the first of the waiting keys has waited, 0 if none
	// waits. It counts from the moment when the key took its place: when it was added, when its
	// processing ended if it was added meanwhile, or when its priority was raised.
	OldestAge time.Duration
	Retries   uint64 // AddAfter, AddRateLimited, and AddWithOptions and TryAdd with a delay
}

// Stats returns the state of the queue. With fairness, the time that it takes grows with the
// number of tenants that have keys waiting.
func (q *WorkQueue[K]) Stats() Stats {
	q.mu.Lock()
	defer q.unlock()
	s, _ := q.stats(q.time.Now())
	return s
}

// stats returns the state of the queue, and the key that has waited longest, nil if none waits.
// The caller holds mu.
func (q *WorkQueue[K]) stats(now time.Duration) (Stats, *entry[K]) {
	oldest, since := q.schedule.oldest(now)
	return Stats{
		Waiting:   q.schedule.len,
		InFlight:  q.inProcess,
		Dirty:     q.dirty,
		Delayed:   q.delays.Len(),
		OldestAge: now - since,
		Retries:   q.retries,
	}, oldest
}

// Len returns how many keys wait to be handed out.
func (q *WorkQueue[K]) Len() int {
	q.mu.Lock()
	defer q.unlock()
	return q.schedule.len
}

// KeyState is what a WorkQueue knows of one key. The zero KeyState is that of a key of which it
// knows nothing: it does not wait, and did not fail when it was processed last, if ever.
type KeyState struct {
	Waiting time.Time // when it took its place among those that wait, zero if it does not wait
	// InWork is when it was handed out, zero if it is not being processed. InWork.Began tells
	// how exact that is.
	InWork time.Time
	Dirty  bool // it was added while it is being processed, and will wait again
	// Priority is the one with which it waits, or will if it is Dirty, or else with which it
	// was handed out or will be added when its delay ends.
	Priority     int
	DelayedUntil time.Time // when it is to be added, zero if it is not delayed
	Failing      *Failing  // how it fails, nil if it does not
}

// KeyState returns what the queue knows of a key. The caller owns it. It costs about as much as
// an Add.
func (q *WorkQueue[K]) KeyState(key K) (s KeyState) {
	if q.validate(key) != nil {
		return s
	}
	s.Failing = q.failures.of(key)
	q.mu.Lock()
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
