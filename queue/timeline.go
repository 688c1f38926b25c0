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

// after returns the time when d will have passed, or the last one that there is.
func (t timeline) after(d time.Duration) time.Duration {
	now := t.now()
	if d > math.MaxInt64-now {
		return math.MaxInt64
	}
	return now + d
}
