package eventlog_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/internal/eventlog"
	"github.com/kubetyped/informer/internal/test/waves"
)

// crowdKeys is how many keys the events of a crowd have.
const crowdKeys = 100

// TestLogCrowdWaves: readers come, wait, lag, and go at once, some closed by others, while one
// appends. Each checks by the numbers of its events that it gets all of them once; a coalescing
// reader, that each change is part of one event, or of none.
func TestLogCrowdWaves(t *testing.T) {
	waves.Run(t, 6, func(t *testing.T, seed uint64) {
		synctest.Test(t, func(t *testing.T) {
			log, over := eventlog.New[object](), make(chan struct{})
			var crowd sync.WaitGroup
			for n := range uint64(6) {
				crowd.Go(func() { readInTurns(t, log, rand.New(rand.NewPCG(seed, n)), over) })
			}
			for n := range uint64(3) {
				crowd.Go(func() { joinInTurns(t, log, rand.New(rand.NewPCG(seed, 10+n)), over) })
			}
			r := rand.New(rand.NewPCG(seed, 20))
			for head := 0; head < 100_000; {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				_ = log.WaitForRoom(ctx)
				cancel()
				events := make([]event, []int{1, 5, 513, 3000}[r.IntN(4)])
				for i := range events {
					events[i] = part{(head + i) % crowdKeys, head + i, head + i}.event()
				}
				log.Append(events)
				head += len(events)
				time.Sleep(time.Duration(r.IntN(2) * r.IntN(int(time.Millisecond))))
			}
			close(over)
			crowd.Wait()
		})
	})
}

// readInTurns is one reader after the other.
func readInTurns(t *testing.T, log *eventlog.Log[object], r *rand.Rand, over <-chan struct{}) {
	for !isOver(over) {
		c := log.NewCursor([]int{0, 50, 2000}[r.IntN(3)])
		var closing sync.WaitGroup
		if after := r.IntN(6); after < 3 {
			closing.Go(func() { time.Sleep(time.Duration(after) * time.Millisecond); c.Close() })
		}
		last := -1
		for range r.IntN(300) {
			batch := c.Next()
			if len(batch) == 0 {
				waitBriefly(c.Ready())
			}
			if r.IntN(30) == 0 {
				time.Sleep(time.Millisecond)
			}
			for _, given := range batch {
				e := partOf(given)
				if last >= 0 && e.to != last+1 {
					assert.Fail(t, fmt.Sprintf("a reader is given %d after %d", e.to, last))
				}
				last = e.to
				c.Handled()
			}
			if c.Backlog() < 0 {
				assert.Fail(t, "a backlog is negative")
			}
		}
		closing.Wait()
		c.Close()
	}
}

// joinInTurns is one coalescing reader after the other.
func joinInTurns(t *testing.T, log *eventlog.Log[object], r *rand.Rand, over <-chan struct{}) {
	merge := func(pending, next event) (event, bool) { return event{Old: pending.Old, New: next.New}, true }
	for !isOver(over) {
		c := eventlog.NewCoalescer(log, merge)
		latest := map[int]int{} // the latest number received, by key
		for range r.IntN(5000) {
			got := c.Next()
			if len(got) == 0 {
				waitBriefly(c.Ready())
				continue
			}
			e := partOf(got[0])
			if before, ok := latest[e.key]; ok && e.from != before+crowdKeys {
				assert.Fail(t, fmt.Sprintf("key %d changes from %d after %d", e.key, e.from, before))
			}
			latest[e.key] = e.to
			c.Handled()
			if backlog := c.Backlog(); backlog > crowdKeys {
				assert.Fail(t, fmt.Sprintf("%d events of %d keys wait", backlog, crowdKeys))
			}
		}
		c.Close()
	}
}

func waitBriefly(ready <-chan struct{}) {
	select {
	case <-ready:
	case <-time.After(2 * time.Millisecond):
	}
}

func isOver(over <-chan struct{}) bool {
	select {
	case <-over:
		return true
	default:
		return false
	}
}
