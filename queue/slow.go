package queue

import "time"

// slowness says which calls of Run take too long.
type slowness struct{ limit, stackAfter time.Duration }

// stuck returns how long a call has to last to be stuck.
func (s slowness) stuck() time.Duration {
	if s.stackAfter > 0 {
		return s.stackAfter
	}
	return defaultStuck
}
