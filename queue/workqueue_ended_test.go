package queue

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNothingIsHandedOutAfterTheContextHasEnded adds a key and ends the context
// before the worker that was woken for the key can look for it.
func TestNothingIsHandedOutAfterTheContextHasEnded(t *testing.T) {
	errStop := errors.New("stop")
	for name, get := range map[string]func(ctx context.Context, q *WorkQueue[int]) error{
		"GetContext": func(ctx context.Context, q *WorkQueue[int]) error {
			_, err := q.GetContext(ctx)
			return err
		},
		"GetWithPriority": func(ctx context.Context, q *WorkQueue[int]) error {
			_, _, err := q.GetWithPriority(ctx)
			return err
		},
		"GetBatch": func(ctx context.Context, q *WorkQueue[int]) error {
			_, err := q.GetBatch(ctx, make([]int, 3))
			return err
		},
		"Run": func(ctx context.Context, q *WorkQueue[int]) error {
			err := q.Run(ctx, 1, func(context.Context, int) error {
				t.Error("it was called")
				return nil
			})
			return errors.Join(err, context.Cause(ctx))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, err := NewWorkQueue[int]()
				require.NoError(t, err)
				defer q.ShutDown()
				ctx, cancel := context.WithCancelCause(t.Context())
				var got error
				var worker sync.WaitGroup
				worker.Go(func() { got = get(ctx, q) })
				synctest.Wait()

				q.mu.Mutex.Lock()
				q.enqueue(q.newEntry(&request[int]{key: 7}), 0, 0)
				q.sleepers.Next(q.schedule.len).Wake()
				cancel(errStop)
				q.mu.Mutex.Unlock()

				worker.Wait()
				require.ErrorIs(t, got, errStop)
				assert.Equal(t, 1, q.Len())
				key, _ := q.Get()
				assert.Equal(t, 7, key)
				q.Done(key)
			})
		})
	}
}
