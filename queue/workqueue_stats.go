package queue

import "time"

// Stats is the state of a WorkQueue at one moment.
type Stats struct {
	// Waiting is the number of keys that wait to be handed out; it is what Len returns.
	Waiting int
	// InFlight is the number of keys that are being processed, Dirty that of those among them
	// that were added meanwhile and will wait again. Waiting and Dirty together are what
	// client-go's metric calls the depth.
	InFlight, Dirty int
	// Delayed is the number of keys that are to be added later; they may be waiting or in
	// process as well.
	Delayed int
	// OldestAge is the time for which the first of the waiting keys has waited, 0 if none
	// waits. It counts from the moment when the key took its place: when it was added, when its
	// processing ended if it was added meanwhile, or when its priority was raised.
	OldestAge time.Duration
	// Retries counts AddAfter, AddRateLimited, and AddWithOptions and TryAdd with a delay,
	// since the queue was made.
	Retries uint64
}

// Stats returns the state of the queue. With fairness, the time that it takes grows with the
// number of tenants that have keys waiting.
func (q *WorkQueue[K]) Stats() Stats {
	q.lock()
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
	q.lock()
	defer q.unlock()
	return q.schedule.len
}
