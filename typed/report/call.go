package report

import (
	"time"

	"github.com/kubetyped/informer/index"
)

// Call is a call of a handler for one event.
type Call struct {
	// Type and Key are those of the event.
	Type index.EventType
	Key  index.Key
	// Began is when the call began, and Took how long it has taken, until now if it has
	// not returned.
	Began time.Time
	Took  time.Duration
}

// CallBounds are the upper bounds, each included, of the durations that CallTimes counts
// together.
var CallBounds = [...]time.Duration{
	10 * time.Microsecond, 100 * time.Microsecond,
	time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 5 * time.Second, 10 * time.Second, time.Minute,
}

// CallTimes is a histogram of how long calls took that have returned.
type CallTimes struct {
	// Counts contains the number of calls for each of CallBounds that took no longer than
	// that, and longer than the one before; and last the calls that took longer than all.
	Counts [len(CallBounds) + 1]uint64
	// Sum is how long all of them took together.
	Sum time.Duration
}

// RecentCalls are the calls that have returned in the last minute, give or take ten seconds.
type RecentCalls struct {
	Calls uint64
	// Sum is how long they took together, and Max the one that took longest.
	Sum, Max time.Duration
}

// Add counts a call.
func (t *CallTimes) Add(took time.Duration) {
	bucket := 0
	for bucket < len(CallBounds) && took > CallBounds[bucket] {
		bucket++
	}
	t.Counts[bucket]++
	t.Sum += took
}

// Calls returns the number of calls.
func (t *CallTimes) Calls() (n uint64) {
	for _, count := range t.Counts {
		n += count
	}
	return n
}
