package eventlog

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

// numbers returns the events from up to to, without to.
func numbers(from, to int) []event {
	list := make([]event, 0, to-from)
	for n := from; n < to; n++ {
		list = append(list, change{key: n, new: n}.event())
	}
	return list
}

// read returns all that c has not read, and leaves nothing in hand.
func read[T index.Object](c *Cursor[T]) []index.Event[T] {
	var list []index.Event[T]
	for batch := c.Next(); len(batch) > 0; batch = c.Next() {
		list = append(list, batch...)
	}
	return list
}

// TestReadersGetEventsAppendedAfterTheyJoined has three cursors join at
// different times and places of a page.
func TestReadersGetEventsAppendedAfterTheyJoined(t *testing.T) {
	log := New[object]()
	log.Append(numbers(0, 10)) // there is no reader
	first := log.NewCursor(0)
	log.Append(numbers(10, 700))
	second := log.NewCursor(0)
	assert.Empty(t, second.Next())
	log.Append(numbers(700, 2000))
	third := log.NewCursor(0)

	assert.Equal(t, numbers(10, 2000), read(first))
	assert.Equal(t, numbers(700, 2000), read(second))
	assert.Empty(t, read(third))
	log.Append(numbers(2000, 2001))
	for _, c := range []*Cursor[object]{first, second, third} {
		assert.Equal(t, numbers(2000, 2001), read(c))
	}
}

func TestAppendCopiesItsEvents(t *testing.T) {
	log := New[object]()
	c := log.NewCursor(0)
	events := numbers(0, 600)
	log.Append(events)
	clear(events)
	assert.Equal(t, numbers(0, 600), read(c))
}

// tracked is an object that the garbage collector can be asked about.
type tracked struct {
	_ [64]byte
	n int
}

func (o *tracked) GetName() string { return strconv.Itoa(o.n) }

func (o *tracked) GetNamespace() string { return "" }

// appendObject returns a weak pointer to the object of the only event of an append.
func appendObject(log *Log[*tracked], n int) weak.Pointer[tracked] {
	o := &tracked{n: n}
	log.Append([]index.Event[*tracked]{{New: o}})
	return weak.Make(o)
}

func alive(objects ...weak.Pointer[tracked]) int {
	runtime.GC()
	n := 0
	for _, o := range objects {
		if o.Value() != nil {
			n++
		}
	}
	return n
}

// TestEventsAreLetGoOnceRead looks at the garbage collector while the log is
// idle: what the last cursor has moved past is gone without another append.
func TestEventsAreLetGoOnceRead(t *testing.T) {
	log := New[*tracked]()
	quick, slow := log.NewCursor(0), log.NewCursor(0)
	a, b := appendObject(log, 1), appendObject(log, 2)

	require.Len(t, read(quick), 2)
	require.Len(t, slow.Next(), 2)
	require.Equal(t, 2, alive(a, b), "one cursor has them in hand")
	require.Empty(t, slow.Next())
	assert.Zero(t, alive(a, b))

	// The same at the end of a page, with a laggard that leaves.
	var objects []weak.Pointer[tracked]
	for n := range 2 * pageSize {
		objects = append(objects, appendObject(log, n))
	}
	require.Len(t, read(quick), 2*pageSize)
	require.Equal(t, 2*pageSize, alive(objects...))
	slow.Next()
	slow.Next()
	assert.Equal(t, pageSize+2, alive(objects...), "the first page but two was read")
	slow.Close()
	assert.Zero(t, alive(objects...))
	runtime.KeepAlive(log)
}

func TestNothingIsKeptWithoutACursor(t *testing.T) {
	log := New[*tracked]()
	coalescer := NewCoalescer(log, func(_, next index.Event[*tracked]) (index.Event[*tracked], bool) { return next, true })
	a, b := appendObject(log, 1), appendObject(log, 1)
	assert.Equal(t, 1, alive(a, b), "the first was merged away")
	require.Len(t, coalescer.Next(), 1)
	require.Equal(t, 1, alive(b), "in hand")
	require.Empty(t, coalescer.Next())
	assert.Zero(t, alive(b))

	c := appendObject(log, 3)
	coalescer.Close()
	assert.Zero(t, alive(c), "pending when it was closed")
	d := appendObject(log, 4)
	assert.Zero(t, alive(d), "there is no reader")
	runtime.KeepAlive(log)
	runtime.KeepAlive(coalescer)
}

// TestWaitForRoom: the writer waits for two limited cursors, and not for one without a limit, which
// reads nothing.
func TestWaitForRoom(t *testing.T) {
	for name, test := range map[string]struct {
		release func(a, b *Cursor[object])
		room    bool
	}{
		"nothing":                   {func(a, b *Cursor[object]) {}, false},
		"both in hand":              {func(a, b *Cursor[object]) { a.Next(); b.Next() }, false},
		"one read":                  {func(a, b *Cursor[object]) { a.Next(); a.Next(); b.Next() }, false},
		"one still at its limit":    {func(a, b *Cursor[object]) { read(a); b.Next(); b.Next() }, false}, // 2 of 4
		"both read":                 {func(a, b *Cursor[object]) { read(a); read(b) }, true},
		"one read, one closed":      {func(a, b *Cursor[object]) { b.Close(); a.Next(); a.Next() }, true},
		"both closed":               {func(a, b *Cursor[object]) { a.Close(); b.Close() }, true},
		"closed with batch in hand": {func(a, b *Cursor[object]) { a.Next(); a.Close(); b.Next(); b.Close() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := New[object]()
				a, b := log.NewCursor(3), log.NewCursor(2)
				log.NewCursor(0)
				log.Append(numbers(0, 1))
				require.NoError(t, log.WaitForRoom(t.Context()), "both are below their limits")
				log.Append(numbers(1, 4)) // past the limits: an append does not wait

				ctx, cancel := context.WithCancelCause(t.Context())
				var err error
				returned := false
				go func() {
					err = log.WaitForRoom(ctx)
					returned = true
				}()
				synctest.Wait()
				require.False(t, returned)

				test.release(a, b)
				synctest.Wait()
				assert.Equal(t, test.room, returned)

				gaveUp := errors.New("gave up")
				cancel(gaveUp)
				synctest.Wait()
				require.True(t, returned)
				if test.room {
					assert.NoError(t, err)
				} else {
					assert.ErrorIs(t, err, gaveUp)
					read(a)
					read(b)
					assert.NoError(t, log.WaitForRoom(t.Context()), "it works again after it gave up")
				}
			})
		})
	}
}

// TestWaitForRoomTakesTurns runs a writer and a slow reader for long: unread events never exceed
// the limit and one append.
func TestWaitForRoomTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, batch, batches = 5, 3, 400
		log := New[object]()
		c := log.NewCursor(limit)
		go func() {
			for i := range batches {
				assert.NoError(t, log.WaitForRoom(t.Context()))
				log.Append(numbers(i*batch, (i+1)*batch))
				assert.Less(t, c.Backlog(), limit+batch)
			}
		}()
		var got []event
		for len(got) < batch*batches {
			events := c.Next()
			if len(events) == 0 {
				<-c.Ready()
			}
			got = append(got, events...)
			synctest.Wait() // the writer is as far ahead as it may be
		}
		assert.Equal(t, numbers(0, batch*batches), got)
	})
}

// TestMemoryInSteadyState: while two cursors keep up, pages go round, and allocations are a
// fraction of a page for each of them.
func TestMemoryInSteadyState(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	log := New[object]()
	a, b := log.NewCursor(0), log.NewCursor(0)
	events := slices.Repeat(events(change{1, 2, 3}), 23)
	turn := func() {
		log.Append(events)
		for _, c := range []*Cursor[object]{a, b} {
			for batch := c.Next(); len(batch) > 0; batch = c.Next() {
				for range batch {
					c.Handled()
				}
			}
		}
	}
	turn()
	assert.Zero(t, testing.AllocsPerRun(1000, turn))

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const pages = 200
	for range pages * pageSize / len(events) {
		turn()
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, (after.TotalAlloc-before.TotalAlloc)/pages, uint64(1000), "a page has 20 KiB")
}

// Most logs are those of small informers: the first page is no larger than it needs
// to be, and later ones are whole. A reader keeps what it has in hand.
func TestFirstPageGrows(t *testing.T) {
	l := New[object]()
	c := l.NewCursor(0)
	l.Append(numbers(0, 1))
	assert.Len(t, l.pages[0], minPage)
	inHand := c.Next()
	l.Append(numbers(1, 100))
	assert.Len(t, l.pages[0], 128)
	assert.Equal(t, numbers(0, 1), inHand)
	l.Append(numbers(100, 2*pageSize+10))
	for _, page := range l.pages {
		assert.Len(t, page, pageSize)
	}
	assert.Equal(t, numbers(1, 2*pageSize+10), read(c))

	late := New[object]()
	late.Append(numbers(0, 300)) // there is no reader
	c = late.NewCursor(0)
	late.Append(numbers(300, 301))
	assert.Equal(t, numbers(300, 301), read(c))
}
