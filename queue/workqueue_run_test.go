package queue_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/kubetyped/informer/queue"
)

// journal is a list that goroutines write and the test reads.
type journal[E any] struct {
	mu      sync.Mutex
	entries []E // guarded by mu
}

// add appends an entry and returns the number of those before it.
func (j *journal[E]) add(e E) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, e)
	return len(j.entries) - 1
}

// all returns the entries, when nothing happens any more until time passes.
func (j *journal[E]) all() []E {
	synctest.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries)
}

// running is a queue that is being run by a test.
type running struct {
	*queue.WorkQueue[string]
	cancel context.CancelFunc // ends Run's context
	log    journal[string]
	err    error // of Run, when it has ended
	ended  atomic.Bool
}

// runQueue runs a queue with so many workers in a bubble. Retries come after 1 s,
// 2 s, 4 s, and so on.
func runQueue(t *testing.T, workers int, process func(ctx context.Context, key string) error) *running {
	r := &running{}
	r.WorkQueue = newQueue[string](t, queue.WithName("pods"),
		queue.WithRateLimiter(workqueue.NewTypedItemExponentialFailureRateLimiter[string](second, time.Hour)))
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(r)))
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
	r.cancel = cancel
	go func() {
		r.err = r.Run(ctx, workers, process)
		r.ended.Store(true)
	}()
	t.Cleanup(cancel)
	synctest.Wait()
	return r
}

// Write implements io.Writer for the log.
func (r *running) Write(line []byte) (int, error) {
	r.log.add(string(line))
	return len(line), nil
}

// hasEnded reports whether Run has returned.
func (r *running) hasEnded() bool {
	synctest.Wait()
	return r.ended.Load()
}

// logged returns what was logged.
func (r *running) logged() string { return strings.Join(r.log.all(), "") }

func TestRunArguments(t *testing.T) {
	q := newQueue[string](t, queue.WithName("pods"))
	none := func(context.Context, string) error { return nil }
	assert.EqualError(t, q.Run(t.Context(), 0, none), "work queue pods: it cannot be run by 0 workers, the least is 1")
	assert.EqualError(t, q.Run(t.Context(), -1, none), "work queue pods: it cannot be run by -1 workers, the least is 1")
	assert.EqualError(t, q.Run(t.Context(), 1, nil), "work queue pods: the function that processes keys is nil")
	assert.False(t, q.ShuttingDown(), "it can be run yet")
}

func TestRunProcessesEachKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var busy, most, calls atomic.Int32
		r := runQueue(t, 3, func(context.Context, string) error {
			most.Store(max(most.Load(), busy.Add(1)))
			time.Sleep(second)
			busy.Add(-1)
			calls.Add(1)
			return nil
		})
		for i := range 9 {
			r.Add(fmt.Sprint(i))
		}
		pass(3 * second)
		assert.EqualValues(t, 9, calls.Load())
		assert.EqualValues(t, 3, most.Load(), "as many at a time as there are workers")
		assert.Equal(t, queue.Stats{}, r.Stats())
		assert.Empty(t, r.logged())
		r.cancel()
		require.True(t, r.hasEnded())
		assert.NoError(t, r.err)
		assert.True(t, r.ShuttingDown())
	})
}

// TestRunOutcomes returns one thing after the other for a key, and looks at when
// it is processed again.
func TestRunOutcomes(t *testing.T) {
	errBroken := errors.New("broken")
	for name, test := range map[string]struct {
		outcomes []error
		after    []time.Duration // the times of the calls that follow
		forgot   bool
		logs     string
	}{
		"success":             {[]error{nil}, nil, true, ""},
		"errors, then not":    {[]error{errBroken, errBroken, errBroken, nil}, []time.Duration{1 * second, 2 * second, 4 * second}, true, "broken"},
		"error":               {[]error{errBroken, queue.TerminalError(nil)}, []time.Duration{second}, true, "broken"},
		"after":               {[]error{queue.RequeueAfter(5 * second), nil}, []time.Duration{5 * second}, true, ""},
		"after, wrapped":      {[]error{fmt.Errorf("later: %w", queue.RequeueAfter(5*second)), nil}, []time.Duration{5 * second}, true, ""},
		"after nothing":       {[]error{queue.RequeueAfter(0), queue.RequeueAfter(-second), nil}, []time.Duration{0, 0}, true, ""},
		"terminal":            {[]error{queue.TerminalError(errBroken)}, nil, true, "broken"},
		"terminal, wrapped":   {[]error{fmt.Errorf("no: %w", queue.TerminalError(errBroken))}, nil, true, "no: terminal error: broken"},
		"terminal, and after": {[]error{errors.Join(queue.RequeueAfter(second), queue.TerminalError(errBroken))}, nil, true, "broken"},
		"after an error":      {[]error{errBroken, queue.RequeueAfter(7 * second), errBroken, nil}, []time.Duration{second, 7 * second, second}, true, "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var journal journal[time.Time]
				r := runQueue(t, 2, func(context.Context, string) error {
					return test.outcomes[journal.add(time.Now())]
				})
				r.Add("a")
				pass(time.Minute)
				calls := journal.all()
				require.Len(t, calls, len(test.outcomes))
				var after []time.Duration
				for i := range calls[1:] {
					after = append(after, calls[i+1].Sub(calls[i]))
				}
				assert.Equal(t, test.after, after)
				assert.Zero(t, r.NumRequeues("a"), "the rate limiter has forgotten it")
				if test.logs == "" {
					assert.Empty(t, r.logged())
				} else {
					assert.Contains(t, r.logged(), test.logs)
					assert.Contains(t, r.logged(), `queue="pods" key="a"`)
				}
				pass(time.Hour)
				assert.Len(t, journal.all(), len(test.outcomes))
				r.cancel()
			})
		})
	}
}

func TestOutcomesAreErrors(t *testing.T) {
	err := errors.New("broken")
	assert.ErrorIs(t, queue.TerminalError(err), err)
	assert.EqualError(t, queue.TerminalError(err), "terminal error: broken")
	assert.EqualError(t, queue.TerminalError(nil), "terminal error")
	assert.EqualError(t, queue.RequeueAfter(second), "requeue after 1s")
}

// TestRunProcessesKeysAddedMeanwhile even if the error of the call is terminal.
func TestRunProcessesKeysAddedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		r := runQueue(t, 2, func(context.Context, string) error {
			calls.Add(1)
			time.Sleep(second)
			return queue.TerminalError(errors.New("hopeless"))
		})
		r.Add("a")
		pass(second / 2)
		r.Add("a")
		pass(time.Minute)
		assert.EqualValues(t, 2, calls.Load())
		r.cancel()
	})
}

func TestRunKeepsPriorities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order journal[string]
		r := runQueue(t, 1, func(_ context.Context, key string) error {
			if order.add(key) == 0 {
				return errors.New("broken")
			}
			time.Sleep(second)
			return nil
		})
		r.AddWithOptions("low", priority(queue.LowPriority))
		synctest.Wait()
		r.Add("first")
		pass(second - moment)
		r.AddWithOptions("higher", priority(queue.LowPriority+1))
		pass(time.Minute)
		assert.Equal(t, []string{"low", "first", "higher", "low"}, order.all())
		r.cancel()
	})
}

// TestRunContainsPanics runs a function that panics twice.
func TestRunContainsPanics(t *testing.T) {
	require.True(t, utilruntime.ReallyCrash, "it would crash")
	var seen journal[any]
	old := utilruntime.PanicHandlers
	utilruntime.PanicHandlers = []func(context.Context, any){func(ctx context.Context, p any) {
		seen.add(p)
		klog.FromContext(ctx).Info("reported")
	}}
	defer func() { utilruntime.PanicHandlers = old }()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		r := runQueue(t, 1, func(context.Context, string) error {
			switch calls.Add(1) {
			case 1:
				panic("at the first")
			case 2:
				panic(queue.TerminalError(nil))
			}
			return nil
		})
		r.Add("a")
		assert.Equal(t, []any{"at the first"}, seen.all())
		assert.Equal(t, 1, r.NumRequeues("a"))
		logged := r.logged()
		assert.Contains(t, logged, `"reported" queue="pods" key="a"`)
		assert.Contains(t, logged, "panic: at the first")
		pass(3 * second)
		assert.EqualValues(t, 3, calls.Load(), "it is tried again, whatever the panic's value")
		assert.Len(t, seen.all(), 2)
		assert.Equal(t, queue.Stats{Retries: 2}, r.Stats())
		r.cancel()
	})
}

// TestRunSurvivesGoexit has one worker exit, then the other.
func TestRunSurvivesGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		r := runQueue(t, 2, func(_ context.Context, key string) error {
			calls.Add(1)
			if key == "exit" {
				runtime.Goexit()
			}
			return nil
		})
		r.Add("exit")
		r.Add("a")
		synctest.Wait()
		assert.EqualValues(t, 2, calls.Load())
		assert.Zero(t, r.Stats().InFlight, "the key is not stuck")
		require.False(t, r.hasEnded())
		pass(second)
		require.True(t, r.hasEnded(), "the retry has ended the other worker")
		assert.EqualError(t, r.err, "work queue pods: its workers have all ended by runtime.Goexit")
		assert.Contains(t, r.logged(), "the function has not returned")
	})
}

// TestRunStopsAtOnce ends the context while keys are in process, wait and are
// delayed.
func TestRunStopsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls journal[string]
		r := runQueue(t, 1, func(ctx context.Context, key string) error {
			calls.add(key)
			<-ctx.Done()
			time.Sleep(second)
			return ctx.Err()
		})
		r.Add("a")
		r.Add("b")
		r.AddAfter("c", time.Hour)
		synctest.Wait()
		r.cancel()
		require.False(t, r.hasEnded(), "it waits for the call")
		pass(second)
		require.True(t, r.hasEnded())
		assert.NoError(t, r.err)
		assert.Equal(t, []string{"a"}, calls.all())
		assert.Empty(t, r.logged(), "an error by the end of the context is none")
		s := r.Stats()
		assert.Zero(t, s.Delayed)
		assert.Zero(t, s.InFlight)
		r.Add("d")
		assert.Equal(t, s, r.Stats(), "the queue is shut down")
	})
}

func TestRunLogsAnErrorAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runQueue(t, 1, func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return errors.New("broken")
		})
		r.Add("a")
		synctest.Wait()
		r.cancel()
		require.True(t, r.hasEnded())
		assert.Contains(t, r.logged(), "broken")
	})
}

// TestRunDrains shuts the queue down while keys are in process, wait and are
// delayed.
func TestRunDrains(t *testing.T) {
	for name, stop := range map[string]func(r *running){
		"ShutDown":          func(r *running) { r.ShutDown() },
		"ShutDownWithDrain": func(r *running) { go r.ShutDownWithDrain() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls journal[string]
				r := runQueue(t, 1, func(ctx context.Context, key string) error {
					calls.add(key)
					time.Sleep(second)
					assert.NoError(t, ctx.Err())
					return map[string]error{"b": errors.New("broken"), "c": queue.RequeueAfter(second)}[key]
				})
				for _, key := range []string{"a", "b", "c", "d"} {
					r.Add(key)
				}
				r.AddAfter("e", second)
				synctest.Wait()
				stop(r)
				synctest.Wait()
				r.Add("f")
				pass(4*second - moment)
				require.False(t, r.hasEnded())
				pass(moment)
				require.True(t, r.hasEnded())
				assert.NoError(t, r.err)
				assert.Equal(t, []string{"a", "b", "c", "d"}, calls.all())
				assert.Contains(t, r.logged(), "broken")
			})
		})
	}
}

// TestRunEndsADrain ends the context of a Run that drains.
func TestRunEndsADrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runQueue(t, 1, func(context.Context, string) error {
			time.Sleep(second)
			return nil
		})
		r.Add("a")
		r.Add("b")
		synctest.Wait()
		var drained atomic.Bool
		go func() {
			r.ShutDownWithDrain()
			drained.Store(true)
		}()
		synctest.Wait()
		r.cancel()
		pass(second)
		assert.True(t, r.hasEnded())
		assert.True(t, drained.Load())
		assert.Equal(t, 1, r.Len(), "b was not processed")
	})
}

// TestOutcomes: a wrapper of a function of Run can find out how Run treats its error.
func TestOutcomes(t *testing.T) {
	soon, never := queue.RequeueAfter(time.Second), queue.TerminalError(errors.New("bad"))
	after, ok := queue.IsRequeue(fmt.Errorf("wrapped: %w", soon))
	assert.True(t, ok)
	assert.Equal(t, time.Second, after)
	assert.True(t, queue.IsTerminal(fmt.Errorf("wrapped: %w", never)))
	_, ok = queue.IsRequeue(errors.Join(soon, never))
	assert.False(t, ok, "that it is terminal counts")
	_, ok = queue.IsRequeue(errors.New("bad"))
	assert.False(t, ok || queue.IsTerminal(nil) || queue.IsTerminal(soon))
}
