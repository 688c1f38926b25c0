package eventlog

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/container"
)

// drain returns what c has pending, event by event.
func drain(c *Coalescer[object]) []change {
	var list []change
	for e := c.Next(); len(e) > 0; e = c.Next() {
		list = append(list, changes(e)...)
	}
	return list
}

// TestOnePendingEventForEachKey merges what comes before the reader does:
// first old, last new, at the place of the first.
func TestOnePendingEventForEachKey(t *testing.T) {
	log := New[object]()
	log.Append(events(change{9, 0, 1})) // before it joined
	c := NewCoalescer(log, mergeEvents)
	log.Append(events(change{1, 5, 6}, change{2, 0, 7}, change{1, 6, 8}, change{3, 4, 9}))
	log.Append(events(change{2, 7, 10}, change{1, 8, 0}, change{3, 9, 0}, change{3, 0, 11}))

	assert.Equal(t, 3, c.Backlog())
	assert.Equal(t, []change{{1, 5, 0}, {2, 0, 10}, {3, 4, 11}}, drain(c))
}

// TestShortLivedObjectsAreNotReported removes pending events from the front, the
// middle and the end, and then all.
func TestShortLivedObjectsAreNotReported(t *testing.T) {
	added := []change{{1, 0, 1}, {2, 0, 2}, {3, 0, 3}, {4, 0, 4}}
	for key := 1; key <= 4; key++ {
		log := New[object]()
		c := NewCoalescer(log, mergeEvents)
		log.Append(events(added...))
		log.Append(events(change{key, key, 0}))
		log.Append(events(change{5, 0, 5}, change{key, 0, 6}))

		var want []change
		for _, e := range append(added, change{5, 0, 5}, change{key, 0, 6}) {
			if e.key != key || e.new == 6 {
				want = append(want, e)
			}
		}
		assert.Equal(t, want, drain(c), "it comes back at the end")

		log.Append(events(change{7, 0, 1}, change{7, 1, 0}))
		assert.Empty(t, drain(c))
		assert.Zero(t, c.Backlog())
	}
}

// TestTheEventInHandIsNotMerged appends to a key while its event is being handled: that event
// stays, and the next one follows it.
func TestTheEventInHandIsNotMerged(t *testing.T) {
	log := New[object]()
	c := NewCoalescer(log, mergeEvents)
	log.Append(events(change{1, 0, 1}))
	inHand := c.Next()
	log.Append(events(change{1, 1, 2}, change{1, 2, 0}))
	assert.Equal(t, events(change{1, 0, 1}), inHand)
	assert.Equal(t, 2, c.Backlog())
	assert.Equal(t, []change{{1, 1, 0}}, drain(c))
}

// TestFillLeavesPendingEventsAlone offers what is not pending, and has not changed
// since.
func TestFillLeavesPendingEventsAlone(t *testing.T) {
	log := New[object]()
	c := NewCoalescer(log, mergeEvents)
	log.Append(events(change{4, 0, 7}))
	require.NotEmpty(t, c.Next())
	log.Append(events(change{5, 0, 7}))
	resync := func(key int) event { return change{key, 7, 7}.event() }

	fill := c.Fill()
	require.Equal(t, []change{{5, 0, 7}}, drain(c))
	fill.Offer(resync(1))
	<-c.Ready()
	fill.Offer(resync(1))
	log.Append(events(change{2, 6, 7}, change{4, 7, 0}))
	fill.Offer(resync(2))
	assert.Equal(t, []change{{1, 7, 7}, {2, 6, 7}, {4, 7, 0}}, drain(c))
	fill.Offer(resync(4))
	assert.Empty(t, drain(c), "it is gone since")
	fill.Offer(resync(5))
	assert.Equal(t, []change{{5, 7, 7}}, drain(c), "it is as it was")
	fill.End()
	assert.Empty(t, c.fills)

	fill = c.Fill()
	c.Close()
	fill.Offer(resync(3))
	assert.Empty(t, drain(c))
	fill.End()
}

// TestPlacesReportHandledRests follows Position to a Head that was noted before, even if pending
// events are cancelled.
func TestPlacesReportHandledRests(t *testing.T) {
	log := New[object]()
	c := NewCoalescer(log, mergeEvents)
	expect := func(position, head, backlog int) {
		t.Helper()
		assert.EqualValues(t, position, c.Position(), "position")
		assert.EqualValues(t, head, c.Head(), "head")
		assert.Equal(t, backlog, c.Backlog(), "backlog")
	}
	expect(0, 0, 0)
	log.Append(events(change{1, 0, 1}, change{2, 0, 1}, change{3, 0, 1}))
	expect(0, 3, 3)
	require.Len(t, c.Next(), 1)
	expect(0, 3, 3)
	c.Handled()
	expect(1, 3, 2)
	log.Append(events(change{1, 1, 2}, change{2, 1, 0}))
	expect(2, 4, 2)
	require.Equal(t, 3, c.Next()[0].New.key)
	log.Append(events(change{1, 2, 1}))
	expect(2, 4, 2)
	require.Equal(t, change{1, 1, 1}.event(), c.Next()[0])
	expect(3, 4, 1)
	require.Empty(t, c.Next())
	expect(4, 4, 0)
}

// TestACoalescerClosedWithAnEventInHand keeps the event, and gets no other.
func TestACoalescerClosedWithAnEventInHand(t *testing.T) {
	log := New[object]()
	c, other := NewCoalescer(log, mergeEvents), NewCoalescer(log, mergeEvents)
	log.Append(events(change{1, 0, 1}, change{2, 0, 1}))
	inHand := c.Next()

	c.Close()
	c.Close()
	log.Append(events(change{3, 0, 1}))

	assert.Equal(t, events(change{1, 0, 1}), inHand)
	assert.Equal(t, 1, c.Backlog(), "the one in hand")
	assert.Empty(t, c.Next())
	assert.Zero(t, c.Backlog())
	assert.Len(t, drain(other), 3, "the others stay")
}

// TestMergingAllocatesNothing is about a reader that is far behind.
func TestMergingAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	log := New[object]()
	c := NewCoalescer(log, mergeEvents)
	events := make([]event, 100)
	for i := range events {
		events[i] = change{i % 10, 1, 2}.event()
	}
	log.Append(events)
	assert.Zero(t, testing.AllocsPerRun(100, func() { log.Append(events) }))
	assert.Equal(t, 10, c.Backlog())
}

// TestMemoryOfACoalescer: the memory of a burst is freed although an event is always pending, and
// that of common sizes is used again.
func TestMemoryOfACoalescer(t *testing.T) {
	log := New[object]()
	c := NewCoalescer(log, mergeEvents)
	for key := range 100 * container.KeptKeys {
		log.Append(events(change{key, 0, 1}))
	}
	require.Equal(t, 100*container.KeptKeys, c.Backlog())
	for c.Backlog() > 2 {
		c.Next()
	}
	assert.LessOrEqual(t, c.most, 4*container.KeptKeys)
	assert.Equal(t, container.KeptKeys, c.spares)
	for p := c.spare; p != nil; p = p.next {
		c.spares--
		assert.Equal(t, pending[object]{next: p.next}, *p, "it holds on to nothing")
	}
	require.Zero(t, c.spares)
	c.spare = nil
	c.Next()
	log.Append(events(change{3, 0, 1}))
	batch := events(change{1, 1, 2})
	again := func() {
		log.Append(batch)
		c.Next()
	}
	for range 2 * container.KeptKeys {
		again()
	}
	assert.Zero(t, testing.AllocsPerRun(1000, again))
	c.Close()
	assert.Nil(t, c.spare)
}
