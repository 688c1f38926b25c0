package queue

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOneWorkerIsWokenAtATime adds a burst before any worker can look.
func TestOneWorkerIsWokenAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, err := NewWorkQueue[int]()
		require.NoError(t, err)
		const workers, keys = 5, 100
		for range workers {
			go func() {
				for {
					key, shutDown := q.Get()
					if shutDown {
						return
					}
					q.Done(key)
				}
			}()
		}
		synctest.Wait()
		sleeping := func() int { return len(q.sleepers.sleeping) }
		require.Equal(t, workers, sleeping())

		q.mu.Lock()
		for key := range keys {
			q.enqueue(q.newEntry(&request[int]{key: key, hash: q.hash(key)}), 0, 0)
			if w := q.sleepers.next(q.schedule.len); w != nil {
				assert.Zero(t, key, "one was woken for the first key")
				wake(w)
			}
		}
		assert.Equal(t, workers-1, sleeping())
		q.mu.Unlock()

		synctest.Wait()
		assert.Zero(t, q.Len())
		q.mu.Lock()
		assert.Equal(t, workers, sleeping())
		assert.False(t, q.sleepers.waking)
		q.mu.Unlock()
		q.ShutDown()
	})
}
