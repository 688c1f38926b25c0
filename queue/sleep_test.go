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
		sleeping := func() int { return q.sleepers.Len() }
		require.Equal(t, workers, sleeping())

		q.mu.Mutex.Lock()
		for key := range keys {
			q.enqueue(q.newEntry(&request[int]{key: key}), 0, 0)
			if w := q.sleepers.Next(q.schedule.len); w != nil {
				assert.Zero(t, key, "one was woken for the first key")
				w.Wake()
			}
		}
		assert.Equal(t, workers-1, sleeping())
		q.mu.Mutex.Unlock()

		synctest.Wait()
		assert.Zero(t, q.Len())
		q.mu.Mutex.Lock()
		assert.Equal(t, workers, sleeping())
		assert.Nil(t, q.sleepers.Next(0))
		q.mu.Mutex.Unlock()
		q.ShutDown()
	})
}
