package queue

import "time"

// entry is what a WorkQueue knows of a key that waits, is delayed, or is being
// processed. Times are counted from the making of the queue.
type entry struct {
	state        state
	delaySeq     uint32        // of its delay, if it is delayed
	due          time.Duration // the end of its delay, if it is delayed
	priority     int           // with which it waits, or was handed out
	nextPriority int           // with which it is to wait after its processing, if it is dirty
	duePriority  int           // with which it is to wait when its delay ends

	since      time.Duration // when it took its place, or was handed out; unknown if nobody looked at the clock
	flow       *node[flow]   // in which it waits
	prev, next int32         // its neighbours in its rowList, noRow if there are none
}

// unknown is a time at which nobody has looked at the clock.
const unknown = time.Duration(-1)

// state is a set of flags.
type state uint8

const (
	waiting    state = 1 << iota // in a flow
	processing                   // handed out
	dirty                        // added since it was handed out
	delayed                      // to be added when it is due
)

func (e *entry) inState(s state) bool { return e.state&s != 0 }

// hasDelay reports whether d is the delay of the key, and not one that was put
// forward since.
func (e *entry) hasDelay(d delay) bool {
	return e.inState(delayed) && e.delaySeq == d.seq && e.due == d.due
}

// rowList is a doubly linked list of entries, by the numbers of their rows. An
// entry is in one list at most: that of its flow, or that of the keys in process.
type rowList struct {
	first, last int32
}

func newRowList() rowList { return rowList{first: noRow, last: noRow} }

// appendRow puts row n, whose entry is e, at the end of l.
func appendRow[K comparable](keys *table[K, entry], l *rowList, n int32, e *entry) {
	e.prev, e.next = l.last, noRow
	if l.last != noRow {
		keys.row(l.last).value.next = n
	} else {
		l.first = n
	}
	l.last = n
}

// removeRow takes the row whose entry is e out of l.
func removeRow[K comparable](keys *table[K, entry], l *rowList, e *entry) {
	if e.prev != noRow {
		keys.row(e.prev).value.next = e.next
	} else {
		l.first = e.next
	}
	if e.next != noRow {
		keys.row(e.next).value.prev = e.prev
	} else {
		l.last = e.prev
	}
}
