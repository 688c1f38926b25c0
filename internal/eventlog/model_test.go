package eventlog

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestModel makes readers of all kinds join, read, lag and leave a log, and compares each with a
// slice of all events.
func TestModel(t *testing.T) { rapid.Check(t, checkLog) }

func FuzzModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkLog)) }

// waker is the expectation of a reader's Ready channel.
type waker struct{ asleep, roused bool }

func (w *waker) found(something bool) { w.asleep = w.asleep || !something }

func (w *waker) rouse() {
	w.roused = w.roused || w.asleep
	w.asleep = false
}

// cursorModel knows a Cursor by the numbers of the events.
type cursorModel struct {
	*Cursor[object]
	waker
	limit    int
	pos, end int // of the batch in hand
	handled  int
	batch    []event
	closed   bool
}

// coalescerModel keeps what is pending in a slice.
type coalescerModel struct {
	*Coalescer[object]
	waker
	pending []change
	places  []int
	head    int
	batch   []event // what Next returned
	want    []event
	handing int // place of the event in hand; -1: none
	seen    state
	closed  bool

	fill    *Fill[object] // nil: none is in progress
	then    state         // when it was begun
	changed map[int]bool  // since then
}

func (c *coalescerModel) offer(e change) {
	i := slices.IndexFunc(c.pending, func(p change) bool { return p.key == e.key })
	if i < 0 {
		c.pending, c.places = append(c.pending, e), append(c.places, c.head)
		c.head++
	} else if merged, left := mergeChanges(c.pending[i], e); left {
		c.pending[i] = merged
	} else {
		c.pending, c.places = slices.Delete(c.pending, i, i+1), slices.Delete(c.places, i, i+1)
	}
}

func checkLog(t *rapid.T) {
	var (
		log        = New[object]()
		all        []event
		now        = state{}
		version    int
		cursors    []*cursorModel
		coalescers []*coalescerModel
	)
	// An action on a reader does nothing if there is none. It is not skipped: the
	// input of a fuzz target may ask for it again and again, and a run that skips
	// too much fails.
	ofCursor := func(do func(t *rapid.T, c *cursorModel)) func(*rapid.T) {
		return func(t *rapid.T) {
			if len(cursors) > 0 {
				do(t, rapid.SampledFrom(cursors).Draw(t, "cursor"))
			}
		}
	}
	ofCoalescer := func(do func(t *rapid.T, c *coalescerModel)) func(*rapid.T) {
		return func(t *rapid.T) {
			if len(coalescers) > 0 {
				do(t, rapid.SampledFrom(coalescers).Draw(t, "coalescer"))
			}
		}
	}
	size := rapid.OneOf(rapid.IntRange(0, 5), rapid.IntRange(pageSize-3, pageSize+3), rapid.IntRange(0, 3*pageSize))
	t.Repeat(map[string]func(*rapid.T){
		"append": func(t *rapid.T) {
			n := size.Draw(t, "size")
			keys := rapid.IntRange(1, 12).Draw(t, "keys")
			gone := rapid.IntRange(2, 5).Draw(t, "gone") // each so many is a deletion
			events := make([]event, n)
			for i := range events {
				version++
				e := change{key: version * 7 % keys, new: version}
				e.old = now[e.key]
				if version%gone == 0 && e.old != 0 {
					e.new = 0
				}
				require.NoError(t, now.apply(e))
				events[i] = e.event()
				for _, c := range coalescers {
					if !c.closed {
						c.offer(e)
						c.changed[e.key] = true
					}
				}
			}
			log.Append(events)
			all = append(all, events...)
			clear(events) // the log has its own copy
			for _, c := range cursors {
				if !c.closed {
					c.rouse()
				}
			}
			for _, c := range coalescers {
				if !c.closed {
					c.rouse()
				}
			}
		},
		"new cursor": func(t *rapid.T) {
			limit := rapid.SampledFrom([]int{-1, 0, 1, 10, pageSize + 1}).Draw(t, "limit")
			n := len(all)
			cursors = append(cursors, &cursorModel{Cursor: log.NewCursor(limit), limit: limit, pos: n, end: n, handled: n})
		},
		"new coalescer": func(*rapid.T) {
			coalescers = append(coalescers, &coalescerModel{
				Coalescer: NewCoalescer(log, mergeEvents), handing: -1, seen: maps.Clone(now), changed: map[int]bool{},
			})
		},
		"next": ofCursor(func(t *rapid.T, c *cursorModel) {
			c.batch = c.Next()
			if c.closed {
				require.Empty(t, c.batch)
				c.end = c.pos // whatever was in hand is no longer looked at
				return
			}
			c.found(c.end < len(all))
			c.pos, c.handled = c.end, c.end
			c.end += len(c.batch)
			require.Equal(t, c.pos < len(all), len(c.batch) > 0)
			require.LessOrEqual(t, c.end, len(all))
			if c.limit > 0 {
				require.LessOrEqual(t, len(c.batch), c.limit)
			}
		}),
		"handled": ofCursor(func(t *rapid.T, c *cursorModel) {
			for range rapid.IntRange(0, max(0, c.end-c.handled)).Draw(t, "count") {
				c.Handled()
				c.handled++
			}
		}),
		"close cursor": ofCursor(func(_ *rapid.T, c *cursorModel) {
			c.Close()
			c.closed = true
		}),
		"next of coalescer": ofCoalescer(func(t *rapid.T, c *coalescerModel) {
			c.batch = c.Next()
			c.want, c.handing = nil, -1
			c.found(len(c.pending) > 0)
			if len(c.pending) > 0 {
				c.want, c.handing = events(c.pending[0]), c.places[0]
				require.NoError(t, c.seen.apply(c.pending[0]))
				c.pending, c.places = c.pending[1:], c.places[1:]
			}
		}),
		"begin fill": ofCoalescer(func(_ *rapid.T, c *coalescerModel) {
			if c.fill != nil {
				c.fill.End()
			}
			c.fill, c.then = c.Fill(), maps.Clone(now)
			clear(c.changed)
		}),
		"offer to fill": ofCoalescer(func(t *rapid.T, c *coalescerModel) {
			key := rapid.IntRange(0, 11).Draw(t, "key")
			if c.fill == nil {
				return
			}
			e := change{key, c.then[key], c.then[key]} // as a resync has it
			c.fill.Offer(e.event())
			if !c.closed && !c.changed[key] && !slices.ContainsFunc(c.pending, func(p change) bool { return p.key == key }) {
				c.offer(e)
				c.rouse()
			}
		}),
		"handled of coalescer": ofCoalescer(func(_ *rapid.T, c *coalescerModel) {
			c.Handled()
			c.batch, c.want, c.handing = nil, nil, -1
		}),
		"close coalescer": ofCoalescer(func(_ *rapid.T, c *coalescerModel) {
			c.Close()
			c.closed, c.pending, c.places = true, nil, nil
		}),
		"ready": func(t *rapid.T) {
			for _, c := range cursors {
				receive(c.Ready())
				c.roused = false
			}
		},
		"": func(t *rapid.T) {
			for _, c := range cursors {
				require.True(t, slices.Equal(all[c.pos:c.pos+len(c.batch)], c.batch), "the batch in hand is what it was")
				require.EqualValues(t, c.handled, c.Position())
				require.EqualValues(t, len(all), c.Head())
				require.Equal(t, c.backlog(len(all)), c.Backlog())
				require.Equal(t, c.roused, len(c.Ready()) == 1)
			}
			for _, c := range coalescers {
				checkCoalescer(t, c, now)
			}
			require.EqualValues(t, firstKept(cursors, all), log.base)
		},
		"memory": func(t *rapid.T) { checkMemory(t, log, cursors, all) },
	})
	checkMemory(t, log, cursors, all)
}

// backlog returns how many events were not handled yet.
func (c *cursorModel) backlog(head int) int {
	if c.closed {
		return 0
	}
	return head - c.handled
}

func receive(ready <-chan struct{}) {
	select {
	case <-ready:
	default:
	}
}

func checkCoalescer(t *rapid.T, c *coalescerModel, now state) {
	require.True(t, slices.Equal(c.want, c.batch), "the event in hand is what it was")
	position, backlog := c.head, len(c.pending)
	if backlog > 0 {
		position = c.places[0]
	}
	if c.handing >= 0 {
		position = c.handing
		backlog++
	}
	require.EqualValues(t, position, c.Position())
	require.EqualValues(t, c.head, c.Head())
	require.Equal(t, backlog, c.Backlog())
	require.Equal(t, c.roused, len(c.Ready()) == 1)
	if c.closed {
		return
	}
	// The events handed out and those pending lead to the current state.
	final := maps.Clone(c.seen)
	for _, e := range c.pending {
		require.NoError(t, final.apply(e))
	}
	require.Equal(t, now, final)
}

// firstKept returns the number of the first event that the slowest cursor has
// not moved past.
func firstKept(cursors []*cursorModel, all []event) int {
	first := len(all)
	for _, c := range cursors {
		if !c.closed {
			first = min(first, c.pos)
		}
	}
	return first
}

// checkMemory looks into the log: it holds what the slowest cursor has not
// moved past, and nothing else.
func checkMemory(t *rapid.T, log *Log[object], cursors []*cursorModel, all []event) {
	base := firstKept(cursors, all)
	require.LessOrEqual(t, len(log.pages), (len(all)-base)/pageSize+2)
	n := uint64(base &^ pageMask)
	for _, page := range log.pages {
		for _, e := range page {
			if n < uint64(base) || n >= uint64(len(all)) {
				require.Zero(t, e, "number %d of %d to %d", n, base, len(all))
			} else if e != all[n] {
				require.Equal(t, all[n], e)
			}
			n++
		}
	}
	require.LessOrEqual(t, len(log.spare), maxSpare)
	for _, page := range log.spare {
		for _, e := range page {
			require.Zero(t, e)
		}
	}
}
