package queue

import (
	"math"
	"time"

	"k8s.io/utils/clock"
)

// stopwatch measures the time since it was started. That is a single number,
// unlike a time.Time, and reading it costs half as much. A clock of the user's may panic:
// who holds the queue's lock looks at the time before anything is changed.
type stopwatch struct {
	clock clock.Clock
	start time.Time
	real  bool // it cannot panic
}

func startStopwatch(c clock.Clock) stopwatch {
	_, real := c.(clock.RealClock)
	return stopwatch{clock: c, start: c.Now(), real: real}
}

func (t *stopwatch) now() time.Duration {
	if t.real {
		return time.Since(t.start)
	}
	return t.clock.Since(t.start)
}

// ifReal returns the time if the clock is the real one, and otherwise unknown.
func (t *stopwatch) ifReal() time.Duration {
	if t.real {
		return t.now()
	}
	return unknown
}

// unlessReal returns the time if ifReal does not.
func (t *stopwatch) unlessReal() time.Duration {
	if t.real {
		return unknown
	}
	return t.now()
}

// at returns the moment at which now returned d.
func (t *stopwatch) at(d time.Duration) time.Time { return t.start.Add(d) }

// later returns now plus d, or the largest duration if that is less.
func later(now, d time.Duration) time.Duration {
	if d > math.MaxInt64-now {
		return math.MaxInt64
	}
	return now + d
}
