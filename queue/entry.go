package queue

import (
	"time"

	"github.com/kubetyped/informer/internal/due"
	"github.com/kubetyped/informer/internal/list"
)

// entry is what a WorkQueue knows of a key. Times are counted from the making of the queue.
type entry[K comparable] struct {
	key    K
	node   list.Node[entry[K]] // in a flow, among those in work, or among those at rest
	item   due.Item[entry[K]]  // among those that are delayed
	tenant *tenant[K]          // whose it is

	priority     int // with which it waits, or was handed out
	nextPriority int // with which it is to wait after its processing, if it is dirty
	duePriority  int // with which it is to wait when its delay ends

	since time.Duration // when it took its place, or was handed out; unknown if nobody looked at the clock
	added time.Duration // when it was first added since it was handed out; for metrics
	state state
}

// unknown is a time at which nobody has looked at the clock.
const unknown = time.Duration(-1)

// state is a set of flags. An entry with none of them rests.
type state uint8

const (
	waiting    state = 1 << iota // in a flow
	processing                   // handed out
	dirty                        // added since it was handed out
	delayed                      // to be added when it is due
)

func (e *entry[K]) inState(s state) bool { return e.state&s != 0 }
