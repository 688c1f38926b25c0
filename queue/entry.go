package queue

import "time"

// entry is what a WorkQueue knows of a key. Times are counted from the making of the
// queue.
type entry[K comparable] struct {
	key        K
	prev, next *entry[K]  // its neighbours in the one list that it is in
	tenant     *tenant[K] // whose it is

	priority     int // with which it waits, or was handed out
	nextPriority int // with which it is to wait after its processing, if it is dirty
	duePriority  int // with which it is to wait when its delay ends

	since time.Duration // when it took its place, or was handed out; unknown if nobody looked at the clock
	added time.Duration // when it was first added since it was handed out; for metrics
	slot  int32         // in the heap of delays, if it is delayed
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

// list is a doubly linked list of entries: those of a flow, those in work, or those at
// rest.
type list[K comparable] struct{ first, last *entry[K] }

// append puts e, which is in no list, at the end.
func (l *list[K]) append(e *entry[K]) {
	e.prev, e.next = l.last, nil
	if l.last != nil {
		l.last.next = e
	} else {
		l.first = e
	}
	l.last = e
}

// remove takes e, which is in the list, out of it.
func (l *list[K]) remove(e *entry[K]) {
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		l.first = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	} else {
		l.last = e.prev
	}
	e.prev, e.next = nil, nil
}
