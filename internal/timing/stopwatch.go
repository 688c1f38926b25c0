// Package timing measures time and acts when it has passed, by the real clock or one of the
// user's: stopwatches, alarms, watchdogs of slow calls, rate limiters, and random numbers of waits.
package timing

import (
	"math"
	"time"

	"k8s.io/utils/clock"
)

// Stopwatch measures the time since it was started. That is a single number, unlike a
// time.Time, and reading it costs half as much. It is safe for concurrent use.
type Stopwatch struct {
	Clock clock.Clock
	Real  bool // Now cannot panic, as a clock of the user's may
	start time.Time
}

// StartStopwatch returns one that begins now.
func StartStopwatch(c clock.Clock) Stopwatch {
	_, real := c.(clock.RealClock)
	return Stopwatch{Clock: c, Real: real, start: c.Now()}
}

// Now returns the time since the start.
func (s *Stopwatch) Now() time.Duration {
	if s.Real {
		return time.Since(s.start)
	}
	return s.Clock.Since(s.start)
}

// At returns the moment at which Now returned d.
func (s *Stopwatch) At(d time.Duration) time.Time { return s.start.Add(d) }

// Later returns now plus d, or the largest duration if that is less.
func Later(now, d time.Duration) time.Duration {
	return now + min(d, math.MaxInt64-now)
}
