package eventlog_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/eventlog"
	"github.com/kubetyped/informer/internal/test/waves"
)

// object is a key with a number.
type object struct{ key, number int }

func (o object) GetName() string { return strconv.Itoa(o.key) }

func (o object) GetNamespace() string { return "" }

// event is an event of the log.
type event = index.Event[object]

// part is an event with the changes of a key from one number to another.
type part struct{ key, from, to int }

func (e part) event() event { return event{Old: object{e.key, e.from}, New: object{e.key, e.to}} }

func partOf(e event) part { return part{e.New.key, e.Old.number, e.New.number} }

// vanishes reports whether this change and the ones it joins cancel out.
func (e part) vanishes() bool { return e.to%5 == 0 }

func join(pending, next event) (event, bool) {
	return event{Old: pending.Old, New: next.New}, !partOf(next).vanishes()
}

// plain is a Cursor with its expected results.
type plain struct {
	*eventlog.Cursor[object]
	next    int     // the number of the first event that it was not given
	held    []event // what it was given last
	first   int     // the number of held[0]
	handled int     // of held
}

// joined is a Coalescer with the events that wait for its reader.
type joined struct {
	*eventlog.Coalescer[object]
	waits   map[int]*waiting // by key
	line    []*waiting       // by place; some have gone
	head    int              // the number of the next place
	current int              // the place of what the reader has in hand, -1 if nothing
	fills   []*filling
}

// waiting is an event of a joined reader.
type waiting struct {
	part
	place int
	gone  bool
}

// filling is a Fill, and the keys that have changed since it began.
type filling struct {
	*eventlog.Fill[object]
	changed map[int]bool
}

// logWorld is a log with readers that join, fall behind by hundreds of pages, leave with a
// batch in hand and keep what they were given.
type logWorld struct {
	*testing.T
	*rand.Rand
	log    *eventlog.Log[object]
	head   int
	keys   int
	plains []*plain
	left   []*plain // closed
	joined []*joined
}

// TestLogWaves compares the events that readers of all kinds get, and their reported backlogs, with
// the numbers of the events that were appended.
func TestLogWaves(t *testing.T) {
	waves.Run(t, 5, func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := &logWorld{T: t, Rand: r, log: eventlog.New[object](), keys: []int{1, 7, 600, 5000, 60_000}[r.IntN(5)]}
		for range 100 + r.IntN(300) {
			w.step()
			w.look()
		}
		w.drain()
	})
}

func (w *logWorld) step() {
	switch w.IntN(13) {
	case 0, 1, 2:
		w.append()
	case 3:
		if len(w.plains) < 8 {
			limit := []int{0, 0, 1, 100, 700}[w.IntN(5)]
			w.plains = append(w.plains, &plain{Cursor: w.log.NewCursor(limit), next: w.head, first: w.head})
		}
	case 4:
		if len(w.plains) > 0 && w.IntN(3) == 0 {
			w.leave(w.IntN(len(w.plains)))
		}
	case 5, 6, 7:
		if len(w.plains) > 0 {
			w.read(w.plains[w.IntN(len(w.plains))], 1+w.IntN(300))
		}
	case 8:
		w.comeOrGo()
	case 9:
		if len(w.joined) > 0 {
			w.fill(w.joined[w.IntN(len(w.joined))])
		}
	default:
		if len(w.joined) > 0 {
			w.take(w.joined[w.IntN(len(w.joined))], 1+w.IntN([]int{3, 3000, 100_000}[w.IntN(3)]))
		}
	}
}

// append adds events, and forgets the slice that they were in.
func (w *logWorld) append() {
	n := []int{0, 1, 3, 50, 511, 512, 513, 5000, 30_000}[w.IntN(9)]
	stride := 1 + w.IntN(w.keys)
	events := make([]event, n)
	for i := range events {
		e := part{(w.head + i) * stride % w.keys, w.head + i, w.head + i}
		events[i] = e.event()
		for _, c := range w.joined {
			c.offer(e)
		}
	}
	w.log.Append(events)
	clear(events)
	w.head += n
}

func (c *joined) offer(e part) {
	for _, f := range c.fills {
		f.changed[e.key] = true
	}
	p := c.waits[e.key]
	switch {
	case p == nil:
		c.wait(e)
	case e.vanishes():
		p.gone = true
		delete(c.waits, e.key)
	default:
		p.to = e.to
	}
}

func (c *joined) wait(e part) {
	p := &waiting{part: e, place: c.head}
	c.head++
	c.waits[e.key] = p
	c.line = append(c.line, p)
}

// first returns what the reader gets next, nil if there is nothing.
func (c *joined) first() *waiting {
	for len(c.line) > 0 && c.line[0].gone {
		c.line = c.line[1:]
	}
	if len(c.line) == 0 {
		return nil
	}
	return c.line[0]
}

// read makes a reader take batches, and handle some of the last one.
func (w *logWorld) read(c *plain, batches int) {
	for range batches {
		c.held, c.first, c.handled = c.Next(), c.next, 0
		c.next += len(c.held)
		if len(c.held) == 0 {
			require.Equal(w, w.head, c.next, "a reader gets nothing")
			return
		}
	}
	for c.handled = w.IntN(len(c.held) + 1); c.Position() < uint64(c.first+c.handled); {
		c.Handled()
	}
}

// leave closes a reader, which still looks at its last batch.
func (w *logWorld) leave(i int) {
	c := w.plains[i]
	c.Close()
	if w.IntN(2) == 0 {
		require.Empty(w, c.Next())
	}
	w.plains = slices.Delete(w.plains, i, i+1)
	w.left = append(w.left, c)
	w.left = w.left[max(0, len(w.left)-20):]
}

// comeOrGo adds a Coalescer, or closes one.
func (w *logWorld) comeOrGo() {
	if len(w.joined) < 3 {
		c := &joined{Coalescer: eventlog.NewCoalescer(w.log, join), waits: map[int]*waiting{}, current: -1}
		w.joined = append(w.joined, c)
	} else if w.IntN(4) == 0 {
		i := w.IntN(len(w.joined))
		c := w.joined[i]
		c.Close()
		require.Empty(w, c.Next())
		for _, f := range c.fills {
			f.Offer(part{key: 1}.event())
			f.End()
		}
		require.Zero(w, c.Backlog(), "it is closed")
		w.joined = slices.Delete(w.joined, i, i+1)
	}
}

// fill begins a Fill, offers one some keys, or ends it.
func (w *logWorld) fill(c *joined) {
	if len(c.fills) < 2 && w.IntN(2) == 0 {
		c.fills = append(c.fills, &filling{c.Coalescer.Fill(), map[int]bool{}})
		return
	}
	if len(c.fills) == 0 {
		return
	}
	f := c.fills[0]
	for range w.IntN(2000) {
		e := part{w.IntN(w.keys), -1, -1}
		if f.Offer(e.event()); !f.changed[e.key] && c.waits[e.key] == nil {
			c.wait(e)
		}
	}
	if w.IntN(2) == 0 {
		f.End()
		c.fills = c.fills[1:]
	}
}

// take makes the reader of a Coalescer take events.
func (w *logWorld) take(c *joined, n int) {
	for range n {
		got, want := c.Next(), c.first()
		if want == nil {
			require.Empty(w, got)
			c.current = -1
			return
		}
		if len(got) != 1 || partOf(got[0]) != want.part {
			w.Fatalf("a coalescing reader is given %v, want %v", got, want.part)
		}
		want.gone, c.current = true, want.place
		delete(c.waits, want.key)
	}
	if w.IntN(2) == 0 {
		c.Handled()
		c.current = -1
	}
}

// look compares the batches and positions of readers with the model.
func (w *logWorld) look() {
	for _, c := range slices.Concat(w.plains, w.left) {
		for i, e := range c.held {
			if e.New.number != c.first+i {
				w.Fatalf("what a reader was given as event %d is %v now", c.first+i, e)
			}
		}
	}
	for _, c := range w.plains {
		at := c.first + c.handled
		require.Equal(w, []int{at, w.head, w.head - at}, []int{int(c.Position()), int(c.Head()), c.Backlog()})
	}
	for _, c := range w.joined {
		at, backlog := c.head, len(c.waits)
		if p := c.first(); p != nil {
			at = p.place
		}
		if c.current >= 0 {
			at = c.current
			backlog++
		}
		require.Equal(w, []int{at, c.head, backlog}, []int{int(c.Position()), int(c.Head()), c.Backlog()})
	}
}

// drain makes all readers take the rest.
func (w *logWorld) drain() {
	for _, c := range w.plains {
		w.read(c, 1+w.head)
		w.read(c, 1)
	}
	for _, c := range w.joined {
		w.take(c, 1+w.head+w.keys)
		require.Empty(w, c.Next())
	}
}
