package queue

import (
	"fmt"
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
