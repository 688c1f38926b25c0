package eventlog

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPositionCountsHandledEvents follows a cursor step by step.
func TestPositionCountsHandledEvents(t *testing.T) {
	log := New[object]()
	log.Append(numbers(0, 5))
	c := log.NewCursor(0)
	expect := func(position, head, backlog int) {
		t.Helper()
		assert.EqualValues(t, position, c.Position(), "position")
		assert.EqualValues(t, head, c.Head(), "head")
		assert.Equal(t, backlog, c.Backlog(), "backlog")
	}
	expect(5, 5, 0)
	log.Append(numbers(5, 8))
	expect(5, 8, 3)
	require.Len(t, c.Next(), 3)
	expect(5, 8, 3)
	c.Handled()
	expect(6, 8, 2)
	log.Append(numbers(8, 9))
	expect(6, 9, 3)
	c.Handled()
	c.Handled()
	expect(8, 9, 1)
	require.Len(t, c.Next(), 1)
	expect(8, 9, 1)
	require.Empty(t, c.Next()) // which says that it was handled
	expect(9, 9, 0)
}

// TestABatchDoesNotChange holds a batch in hand while others read on, pages go
// round and the cursor is closed.
func TestABatchDoesNotChange(t *testing.T) {
	for name, test := range map[string]struct{ skip, size int }{
		"first page":         {0, 100},
		"end of a page":      {pageSize - 10, 10},
		"a whole page":       {0, pageSize},
		"middle of a page":   {300, 50},
		"last of some pages": {3*pageSize - 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			log := New[object]()
			other := log.NewCursor(0)
			log.Append(numbers(0, test.skip))
			c, sibling := log.NewCursor(0), log.NewCursor(0)
			want := numbers(test.skip, test.skip+test.size)
			log.Append(want)
			batch, same := c.Next(), sibling.Next()
			require.Equal(t, want, batch)

			c.Close()
			c.Close()

			require.Empty(t, c.Next())
			head := test.skip + test.size
			require.Len(t, read(other), head)
			for range 4 { // pages that were read are cleared and used again
				log.Append(numbers(head, head+pageSize))
				require.Equal(t, numbers(head, head+pageSize), read(other))
				head += pageSize
			}
			assert.Equal(t, want, batch)
			assert.Equal(t, want, same)
			sibling.Close()
			log.Append(numbers(head, head+3*pageSize))
			require.Len(t, read(other), 3*pageSize)
			assert.Equal(t, want, same)
			assert.Equal(t, want, batch)
		})
	}
}

// TestBacklogOfAClosedCursor: events that are dropped, and those that are appended later, are not
// counted.
func TestBacklogOfAClosedCursor(t *testing.T) {
	log := New[object]()
	c := log.NewCursor(0)
	log.Append(numbers(0, 3))
	require.Len(t, c.Next(), 3)
	c.Handled()
	require.Equal(t, 2, c.Backlog())
	c.Close()
	log.Append(numbers(3, 8))
	assert.Zero(t, c.Backlog())
}

func TestALimitBoundsTheBatch(t *testing.T) {
	log := New[object]()
	c := log.NewCursor(4)
	log.Append(numbers(0, 10))
	assert.Equal(t, numbers(0, 4), c.Next())
	assert.Equal(t, numbers(4, 8), c.Next())
	assert.Equal(t, numbers(8, 10), c.Next())
	assert.Empty(t, c.Next())
}

// TestReadyIsReadableWhenThereIsMore goes through the ways a reader of either
// kind can be woken.
func TestReadyIsReadableWhenThereIsMore(t *testing.T) {
	type reader interface {
		Next() []event
		Ready() <-chan struct{}
	}
	for name, join := range map[string]func(*Log[object]) reader{
		"cursor":    func(l *Log[object]) reader { return l.NewCursor(0) },
		"coalescer": func(l *Log[object]) reader { return NewCoalescer(l, mergeEvents) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := New[object]()
				r := join(log)
				got := make(chan event)
				go func() {
					defer close(got)
					for n := 0; n < 3; {
						events := r.Next()
						for _, e := range events {
							got <- e
							n++
						}
						if len(events) == 0 {
							<-r.Ready()
						}
					}
				}()
				for i := range 3 {
					synctest.Wait() // the reader sleeps
					e := change{key: i, new: 1}.event()
					log.Append([]event{e})
					require.Equal(t, e, <-got)
				}
				<-got

				select {
				case <-r.Ready():
					t.Fatal("nothing happened since")
				default:
				}
			})
		})
	}
}
