package queue

import (
	"fmt"
	"time"
)

// Report is the state of a WorkQueue in words, for pages and logs. See
// WorkQueue.Report.
type Report struct {
	// Name is that of the queue, see WithName.
	Name string
	Stats
	// Depths has how many keys wait, by priority, the highest first.
	Depths []Depth
	// Oldest is the key that has waited for OldestAge, "" if none waits.
	Oldest string
	// InWork has keys that are being processed, the one that was handed out first
	// first. InFlight is how many there are.
	InWork []InWork
	// Stuck is how many keys in work are stuck, up to 1,000; InWork has the first of them.
	Stuck int
	// Failing has keys that fail, the one with most failures in a row first.
	Failing []Failing
	// FailingKeys is how many keys fail, and FailingSince when the first of them began to,
	// zero if none does. MissedFailures is how many failures were of other keys, of
	// which nothing is known as 10,000 failed already.
	FailingKeys    int
	FailingSince   time.Time
	MissedFailures uint64
	// Results counts the calls by Run, by their results.
	Results Results
	// ShutDown tells that the queue was shut down.
	ShutDown bool
}

// Results counts calls of the function that processes keys.
type Results struct {
	// Succeeded have returned nil, and Requeued an error of RequeueAfter.
	Succeeded, Requeued uint64
	// Failed have returned another error, or panicked, and Terminal one of TerminalError.
	Failed, Terminal uint64
}

// Depth is how many keys wait with a priority.
type Depth struct{ Priority, Waiting int }

// InWork is a key that is being processed.
type InWork struct {
	// Key is the key in words, as fmt.Sprint has it.
	Key string
	// Began is when it was handed out. To look at the clock takes as long as to hand
	// out a key, so only Run does that, and queues with WithMetrics. For others it is
	// when a Report, or KeyState, first found the key in work.
	Began time.Time
	// Stuck tells that it began long ago: 5 minutes, or what WithSlowReconciles says.
	Stuck bool
}

// maxReported is how long the lists of a Report can be. To copy as many keys takes
// some ten microseconds.
const maxReported = 1000

// words returns a key in words.
func words[K comparable](key K) string { return fmt.Sprint(key) }

// Report returns the state of the queue, with at most n elements in each list, and
// no more than 1,000. The caller owns it. Stats, Depths, Oldest and InWork are of
// one moment.
//
// The queue stands still while the keys of the lists are copied, some nanoseconds
// each, and, with fairness, as long as Stats takes. They are put into words after
// that. Keys that fail are looked through while the queue goes on: a key that is
// about to begin or cease to fail waits for that, 0.3 ms if there are 10,000.
func (q *WorkQueue[K]) Report(n int) Report {
	n = max(0, min(n, maxReported))
	r, oldest, inWork := q.snapshot(n)
	if len(oldest) > 0 {
		r.Oldest = words(oldest[0])
	}
	for i, key := range inWork {
		r.InWork[i].Key = words(key)
	}
	q.failures.report(n, &r)
	r.Results = q.results.now()
	return r
}

// snapshot returns a report without what takes long, and the keys that belong in it:
// the oldest one, if there is one, and those in work.
func (q *WorkQueue[K]) snapshot(n int) (r Report, oldest, inWork []K) {
	q.lock()
	defer q.unlock()
	now := q.time.now()
	first, since := q.schedule.oldest(now)
	r = Report{Name: q.name, Stats: q.stats(now - since), Depths: q.schedule.depths(n), ShutDown: q.shutDown}
	if first != nil {
		oldest = []K{first.key}
	}
	if length := min(n, q.inProcess); length > 0 {
		inWork, r.InWork = make([]K, 0, length), make([]InWork, 0, length)
	}
	for at := q.inWork.first; at != nil && r.Stuck < maxReported; at = at.next {
		e := at.of
		if len(inWork) == n && e.since == unknown {
			break
		}
		began := q.began(e, now)
		w := InWork{Began: q.time.at(began), Stuck: now-began > q.slow.stuck}
		if w.Stuck {
			r.Stuck++
		} else if len(inWork) == n {
			break // those that follow were handed out later
		}
		if len(inWork) < n {
			inWork, r.InWork = append(inWork, e.key), append(r.InWork, w)
		}
	}
	return r, oldest, inWork
}

// began returns when a key was handed out, or when this was first asked for. The caller
// holds mu.
func (q *WorkQueue[K]) began(e *entry[K], now time.Duration) time.Duration {
	if e.since == unknown {
		e.since = now
	}
	return e.since
}
