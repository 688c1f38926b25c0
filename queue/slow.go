package queue

import (
	"fmt"
	"sync"
	"time"
)

// slowness says which calls of Run take too long. The zero slowness asks nobody to
// watch them.
type slowness struct {
	limit      time.Duration // a call that took longer is logged when it has ended
	stackAfter time.Duration // a call that has taken as long is logged while it lasts
}

// WithSlowReconciles makes Run log a line for each call of the function that
// processes keys which took longer than limit, with the key and how long it took. A
// call that has not returned after stackAfter is logged, too, once and while it
// lasts, with the stack of its goroutine; Report calls it stuck. With 0, that is after
// 5 minutes. There are up to 6 such lines a minute for a queue, which say how many were
// left out before.
//
// To find a stack, the program stands still for some microseconds for each of its
// goroutines. A call costs two looks at the clock more with this option.
func WithSlowReconciles(limit, stackAfter time.Duration) Option {
	return func(o *options) error {
		switch {
		case limit <= 0:
			return fmt.Errorf("WithSlowReconciles: the limit %v is not positive", limit)
		case stackAfter < 0:
			return fmt.Errorf("WithSlowReconciles: the time %v after which a stack is logged is negative", stackAfter)
		case stackAfter == 0:
			stackAfter = defaultStuck
		}
		o.slow = slowness{limit: limit, stackAfter: stackAfter}
		return nil
	}
}

// stuck returns how long a call has to last to be stuck.
func (s slowness) stuck() time.Duration {
	if s.stackAfter > 0 {
		return s.stackAfter
	}
	return defaultStuck
}

// slowLines is how many lines about slow calls a queue logs at most in a minute.
const slowLines = 6

// sparingLog says whether a line may be logged, of which there are to be few a
// minute.
type sparingLog struct {
	mu      sync.Mutex
	until   time.Duration // guarded by mu; the end of a minute that began with a line
	lines   int           // guarded by mu; in that minute
	leftOut int           // guarded by mu; since the last line
}

// next reports whether a line may be logged now, and how many were left out before.
func (s *sparingLog) next(now time.Duration) (leftOut int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now >= s.until {
		s.until, s.lines = now+time.Minute, 0
	}
	if s.lines == slowLines {
		s.leftOut++
		return 0, false
	}
	s.lines++
	leftOut, s.leftOut = s.leftOut, 0
	return leftOut, true
}
