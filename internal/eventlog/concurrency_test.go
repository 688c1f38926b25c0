package eventlog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// stop is the key of the last event, with which readers end.
const stop = -1

// follow reads c until stop and returns what it got: the changes in their
// order, each the one that follows the state.
func follow(next func() []event, ready <-chan struct{}, handled func(), seen state) error {
	for {
		batch := next()
		if len(batch) == 0 {
			<-ready
		}
		for _, e := range batch {
			if e.New.key == stop {
				return nil
			}
			if err := seen.apply(changeOf(e)); err != nil {
				return err
			}
			handled()
		}
	}
}

// TestReadersBesideAWriter runs readers of all kinds at the same time: those
// that stay reach the writer's state, others come and go, and some look at
// the numbers whenever something was appended.
func TestReadersBesideAWriter(t *testing.T) {
	const keys, versions = 50, 30_000
	log := New[object]()
	beat := make(chan struct{}, 8)
	var watchers, followers errgroup.Group
	onBeat := func(check func() error) {
		watchers.Go(func() (err error) {
			for range beat {
				for range 20 {
					if e := check(); err == nil {
						err = e
					}
				}
			}
			return err
		})
	}

	var states []state
	for _, limit := range []int{0, 0, 7, 600} {
		c, seen := log.NewCursor(limit), state{}
		states = append(states, seen)
		followers.Go(func() error { return follow(c.Next, c.Ready(), c.Handled, seen) })
		onBeat(func() error {
			if n, p, head := c.Backlog(), c.Position(), c.Head(); n < 0 || p > head {
				return fmt.Errorf("backlog %d, position %d, head %d", n, p, head)
			}
			return nil
		})
	}
	for range 2 {
		c, seen := NewCoalescer(log, mergeEvents), state{}
		states = append(states, seen)
		followers.Go(func() error { return follow(c.Next, c.Ready(), c.Handled, seen) })
		onBeat(func() error {
			fill := c.Fill()
			fill.Offer(change{key: keys}.event()) // a key that the writer leaves alone
			fill.End()
			if n := c.Backlog(); n < 0 || n > keys+1+1+1 { // that one, one in hand, and stop
				return fmt.Errorf("%d pending events of %d keys", n, keys)
			}
			return nil
		})
	}
	onBeat(func() error { // a guest
		c := log.NewCursor(3)
		defer c.Close()
		coalescer := NewCoalescer(log, mergeEvents)
		defer coalescer.Close()
		if n := c.Backlog(); n < 0 {
			return fmt.Errorf("backlog %d", n)
		}
		return nil
	})
	guest := log.NewCursor(0) // leaves with a batch in hand, and the next one joins
	var left, kept [][]event

	now, random := state{}, rand.New(rand.NewPCG(1, 2))
	var batch []event
	for version := 1; version <= versions; version++ {
		e := change{key: random.IntN(keys), new: version}
		if e.old = now[e.key]; e.old != 0 && random.IntN(3) == 0 {
			e.new = 0
		}
		require.NoError(t, now.apply(e))
		if batch = append(batch, e.event()); random.IntN(20) == 0 || version == versions {
			require.NoError(t, log.WaitForRoom(t.Context()))
			log.Append(batch)
			batch = batch[:0]
			select {
			case beat <- struct{}{}:
			default:
			}
		}
		if version%100 == 0 {
			inHand, last := guest.Next(), guest
			left, kept = append(left, inHand), append(kept, slices.Clone(inHand))
			watchers.Go(func() error {
				last.Close()
				return nil
			})
			guest = log.NewCursor(0)
		}
	}
	log.Append(events(change{stop, 0, 1}))
	close(beat)
	require.NoError(t, followers.Wait())
	require.NoError(t, watchers.Wait())
	for i := range left {
		require.True(t, slices.Equal(kept[i], left[i]), "what guest %d had in hand when it left has changed", i)
	}
	for i, seen := range states {
		require.Equal(t, now, seen, "reader %d", i)
	}
}
