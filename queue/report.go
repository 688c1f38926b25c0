package queue

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Stats is the state of a WorkQueue at one moment.
type Stats struct {
	Waiting int // keys that wait to be handed out; it is what Len returns
	// InFlight is the number of keys that are being processed, Dirty that of those among them
	// that were added meanwhile and will wait again. Waiting and Dirty together are what
	// client-go's metric calls the depth.
	InFlight, Dirty int
	Delayed         int // keys that are to be added later; they may wait or be in process as well
	// OldestAge is how long the first of the waiting keys has waited, 0 if none waits: since it was
	// added, or done if it was added meanwhile, or its priority was raised.
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

// stats returns the state, and the entry that has waited longest, nil if nothing waits. The
// caller holds mu.
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
	InWork  time.Time // when it was handed out, zero if it is not in process; see InWork.Began
	Dirty   bool      // it was added while it is being processed, and will wait again
	// Priority is the one with which it waits, or will if it is Dirty, or else with which it
	// was handed out or will be added when its delay ends.
	Priority     int
	DelayedUntil time.Time // when it is to be added, zero if it is not delayed
	Failing      *Failing  // how it fails, nil if it does not
}

// KeyState returns what the queue knows of a key. The caller owns it. It costs as much as an Add.
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

// Report is the state of a WorkQueue in words, for pages and logs. See WorkQueue.Report.
type Report struct {
	Name string // of the queue, see WithName
	Stats
	Depths  []Depth   // how many keys wait, by priority, the highest first
	Oldest  string    // the key that has waited for OldestAge, "" if none waits
	InWork  []InWork  // keys that are being processed, in the order in which they were handed out
	Stuck   int       // how many of the first 1,000 keys in work are stuck; InWork has the first of them
	Failing []Failing // keys that fail, the one with most failures in a row first
	// FailingKeys is how many keys fail, FailingSince when the first of them began to, zero if none
	// does, and MissedFailures how many failures were of others, as 10,000 keys failed already.
	FailingKeys    int
	FailingSince   time.Time
	MissedFailures uint64
	Results        Results // of the calls by Run
	ShutDown       bool    // the queue was shut down
}

// Results counts calls of the function that processes keys.
type Results struct {
	// Succeeded have returned nil, and Requeued an error of RequeueAfter.
	Succeeded, Requeued uint64
	// Failed have returned another error, or panicked, and Terminal one of TerminalError.
	Failed, Terminal uint64
}

// results count what Results has.
type results struct{ succeeded, requeued, failed, terminal atomic.Uint64 }

// Depth is how many keys wait with a priority.
type Depth struct{ Priority, Waiting int }

// InWork is a key that is being processed.
type InWork struct {
	Key string // the key in words, as fmt.Sprint has it
	// Began is when it was handed out. To look at the clock takes as long as to hand out a key,
	// so only Run does that, and queues with WithMetrics. For others it is when a Report, or
	// KeyState, first found the key in work.
	Began time.Time
	Stuck bool // it began long ago: 5 minutes, or what WithSlowReconciles says
}

const maxReported = 1000 // elements of a list, which take about ten microseconds

// Report returns the state of the queue, with at most n elements in each list, and no more than
// 1,000. The caller owns it. Stats, Depths, Oldest and InWork are of one moment.
//
// The queue is locked while the keys of the lists are copied, a few nanoseconds each, and,
// with fairness, as long as Stats takes. Failing keys are read without that lock; only a key
// that begins or ceases to fail waits for it, 0.3 ms with 10,000 failing keys.
func (q *WorkQueue[K]) Report(n int) Report {
	n = max(0, min(n, maxReported))
	r, oldest, inWork := q.snapshot(n)
	if len(oldest) > 0 {
		r.Oldest = fmt.Sprint(oldest[0])
	}
	for i, key := range inWork {
		r.InWork[i].Key = fmt.Sprint(key)
	}
	q.failures.report(n, &r)
	c := &q.results
	r.Results = Results{c.succeeded.Load(), c.requeued.Load(), c.failed.Load(), c.terminal.Load()}
	return r
}

// snapshot returns a report without what takes long, and the keys that belong in it: the oldest
// one, if there is one, and those in work.
func (q *WorkQueue[K]) snapshot(n int) (r Report, oldest, inWork []K) {
	q.mu.Lock()
	defer q.unlock()
	now := q.time.Now()
	stats, first := q.stats(now)
	r = Report{Name: q.name, Stats: stats, Depths: q.schedule.depths(n), ShutDown: q.shutDown}
	if first != nil {
		oldest = []K{first.key}
	}
	if length := min(n, q.inProcess); length > 0 {
		inWork, r.InWork = make([]K, 0, length), make([]InWork, 0, length)
	}
	for i, at := 0, q.inWork.First; at != nil && i < maxReported; i, at = i+1, at.Next {
		e := at.Of
		if i >= n && e.since == unknown {
			continue
		}
		began := q.began(e, now)
		stuck := now-began > q.slow.stuck
		if stuck {
			r.Stuck++
		}
		if i < n {
			inWork, r.InWork = append(inWork, e.key), append(r.InWork, InWork{Began: q.time.At(began), Stuck: stuck})
		}
	}
	return r, oldest, inWork
}

// began returns when a key was handed out, or that was first asked for. The caller holds mu.
func (q *WorkQueue[K]) began(e *entry[K], now time.Duration) time.Duration {
	if e.since == unknown {
		e.since = now
	}
	return e.since
}
