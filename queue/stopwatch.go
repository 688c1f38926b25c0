package queue

import (
	"math"
	"time"

	"k8s.io/utils/clock"
)

// stopwatch measures the time since it was started. That is a single number,
// unlike a time.Time, and reading it costs half as much.
type stopwatch struct {
	clock clock.Clock
	start time.Time
}

func startStopwatch(c clock.Clock) stopwatch { return stopwatch{clock: c, start: c.Now()} }

func (t stopwatch) now() time.Duration { return t.clock.Since(t.start) }

// at returns the moment at which now returned d.
func (t stopwatch) at(d time.Duration) time.Time { return t.start.Add(d) }

// later returns now plus d, or the largest duration if that is less.
func later(now, d time.Duration) time.Duration {
	if d > math.MaxInt64-now {
		return math.MaxInt64
	}
	return now + d
}
