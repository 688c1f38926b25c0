package queue

import "time"

// entry is what a WorkQueue knows of a key that waits, is delayed, or is being
// processed. Times are counted from the making of the queue.
type entry struct {
	state    state
	priority int   // with which it waits, or was handed out
	again    int   // with which it is to wait after its processing
	late     int   // with which it is to wait when it comes due
	delay    delay // if it is delayed

	joined time.Duration // when it joined its line

	line       *node[line] // in which it waits
	prev, next int32       // its neighbours in its chain, noRow if there are none
}

// state is a set of flags.
type state uint8

const (
	waiting    state = 1 << iota // in a line
	processing                   // handed out
	dirty                        // added since it was handed out
	delayed                      // to be added when it is due
)

func (e *entry) is(s state) bool { return e.state&s != 0 }

// chain is a doubly linked list of entries, by the numbers of their rows. An
// entry is in one chain at most: that of its line, or that of the keys in
// process.
type chain struct {
	first, last int32
}

func newChain() chain { return chain{first: noRow, last: noRow} }

// link puts row n at the end of c.
func link[K comparable](rows []row[K, entry], c *chain, n int32) {
	e := &rows[n].value
	e.prev, e.next = c.last, noRow
	if c.last != noRow {
		rows[c.last].value.next = n
	} else {
		c.first = n
	}
	c.last = n
}

// unlink takes row n out of c.
func unlink[K comparable](rows []row[K, entry], c *chain, n int32) {
	e := &rows[n].value
	if e.prev != noRow {
		rows[e.prev].value.next = e.next
	} else {
		c.first = e.next
	}
	if e.next != noRow {
		rows[e.next].value.prev = e.prev
	} else {
		c.last = e.prev
	}
}
