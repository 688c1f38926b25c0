package queue

import (
	"math"
	"time"

	"k8s.io/utils/clock"
)

// timeline is the time since it began, by a clock. Unlike a time.Time this is
// one number, and reading it costs half as much.
type timeline struct {
	clock clock.Clock
	start time.Time
}

func newTimeline(c clock.Clock) timeline { return timeline{clock: c, start: c.Now()} }

func (t timeline) now() time.Duration { return t.clock.Since(t.start) }

// later returns the time d after now, or the last one that there is.
func later(now, d time.Duration) time.Duration {
	if d > math.MaxInt64-now {
		return math.MaxInt64
	}
	return now + d
}
