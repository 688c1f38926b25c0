package queue_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/queue"
)

// TestRunReturnsShutDown has nothing, and then a key, wait in a
// queue that was shut down before it is run.
func TestRunReturnsShutDown(t *testing.T) {
	for _, waiting := range []int{0, 3} {
		q := newQueue[int](t, queue.WithName("pods"))
		for i := range waiting {
			q.Add(i)
		}
		q.ShutDown()
		processed := 0
		err := q.Run(t.Context(), 1, func(context.Context, int) error {
			processed++
			return nil
		})
		require.ErrorIs(t, err, queue.ErrShutDown)
		assert.EqualError(t, err, "work queue pods: it was shut down before Run was called: queue: shut down")
		assert.Equal(t, waiting, processed, "what waits is processed")
	}
}

// TestDrain ends with everything processed, the context, or a ShutDown.
func TestDrain(t *testing.T) {
	errLate := errors.New("too late")
	for name, test := range map[string]struct {
		stop    func(q *queue.WorkQueue[string], cancel context.CancelCauseFunc)
		err     error
		message string
		after   time.Duration
	}{
		"until all is processed": {func(*queue.WorkQueue[string], context.CancelCauseFunc) {}, nil, "", 4 * second},
		"until the context ends": {func(_ *queue.WorkQueue[string], cancel context.CancelCauseFunc) { cancel(errLate) },
			errLate, "work queue pods: drain ended early (keys waiting: 3, in process: 1): too late", second / 2},
		"until ShutDown": {func(q *queue.WorkQueue[string], _ context.CancelCauseFunc) { q.ShutDown() },
			queue.ErrShutDown, "work queue pods: drain ended early (keys waiting: 3, in process: 1): queue: shut down", second / 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := runQueue(t, 1, func(context.Context, string) error {
					time.Sleep(second)
					return nil
				})
				for _, key := range []string{"a", "b", "c"} {
					r.Add(key)
				}
				r.AddAfter("later", second)
				synctest.Wait()
				r.Add("a") // again, when it is done
				ctx, cancel := context.WithCancelCause(t.Context())
				go func() {
					time.Sleep(second / 2)
					test.stop(r.WorkQueue, cancel)
				}()
				start := time.Now()
				err := r.Drain(ctx)
				assert.Equal(t, test.after, time.Since(start))
				require.ErrorIs(t, err, test.err)
				if test.err != nil {
					assert.EqualError(t, err, test.message)
				}
				assert.True(t, r.ShuttingDown())
				pass(time.Minute)
				assert.True(t, r.hasEnded(), "what waits is handed out in any case")
				assert.NoError(t, r.Drain(ctx), "nothing is left, so the context makes no difference")
			})
		})
	}
}

// TestDrainsAreIndependent has one end by its context while others wait.
func TestDrainsAreIndependent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue[string](t)
		q.Add("a")
		var patient, plain bool
		go func() {
			assert.NoError(t, q.Drain(context.Background()))
			patient = true
		}()
		go func() {
			q.ShutDownWithDrain()
			plain = true
		}()
		ctx, cancel := context.WithTimeout(t.Context(), second)
		defer cancel()
		require.ErrorIs(t, q.Drain(ctx), context.DeadlineExceeded)
		synctest.Wait()
		assert.False(t, patient || plain)
		key, _ := q.Get()
		q.Done(key)
		synctest.Wait()
		assert.True(t, patient && plain)
	})
}

// TestDrainOfAnEndedContext shuts the queue down all the same.
func TestDrainOfAnEndedContext(t *testing.T) {
	q := newQueue[string](t, queue.WithName("pods"))
	q.Add("a")
	assert.EqualError(t, q.Drain(ended()), "work queue pods: drain ended early (keys waiting: 1, in process: 0): context canceled")
	assert.True(t, q.ShuttingDown())
}

// TestGaugesOfEndedQueueAreZero: nothing waits, and nothing is in work.
func TestGaugesOfEndedQueueAreZero(t *testing.T) {
	for name, end := range map[string]func(q *queue.WorkQueue[string]){
		"while a key waits": func(q *queue.WorkQueue[string]) {
			key, _ := q.Get()
			q.ShutDown()
			q.Done(key)
			key, _ = q.Get()
			q.Done(key)
		},
		"at once after the last key": func(q *queue.WorkQueue[string]) {
			for range 2 {
				key, _ := q.Get()
				q.Done(key)
			}
			q.ShutDown()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRecorder()
				q := newQueue[string](t, queue.WithName("q"), queue.WithMetrics(fullRecorder{r}))
				q.Add("a")
				q.Add("b")
				time.Sleep(10 * time.Second)
				assert.NotZero(t, r.value("oldest age"))
				end(q)
				time.Sleep(time.Minute)
				assert.Zero(t, q.Stats())
				assert.Zero(t, r.value("oldest age"))
				assert.Zero(t, r.value("unfinished"))
			})
		})
	}
}
