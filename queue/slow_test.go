package queue_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/kubetyped/informer/queue"
)

// runSlowly runs a queue in a bubble, with more options, and a function that takes as
// long as its keys say.
func runSlowly(t *testing.T, workers int, opts ...queue.Option) *running {
	r := &running{}
	r.WorkQueue = newQueue[string](t, append(opts, queue.WithName("pods"))...)
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(r)))))
	r.cancel = cancel
	go func() {
		r.err = r.Run(ctx, workers, takeAWhile)
		r.ended.Store(true)
	}()
	t.Cleanup(cancel)
	synctest.Wait()
	return r
}

// takeAWhile sleeps for as long as the key says, the part of it before a slash.
func takeAWhile(_ context.Context, key string) error {
	words, _, _ := strings.Cut(key, "/")
	d, err := time.ParseDuration(words)
	time.Sleep(d)
	return err
}

func TestSlowReconcilesOptions(t *testing.T) {
	for _, o := range []queue.Option{
		queue.WithSlowReconciles(0, second), queue.WithSlowReconciles(-1, 0), queue.WithSlowReconciles(second, -1),
	} {
		_, err := queue.NewWorkQueue[string](o)
		assert.ErrorContains(t, err, "WithSlowReconciles")
	}
}

// TestSlowCallsAreLogged when they have ended, with key and duration.
func TestSlowCallsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runSlowly(t, 2, queue.WithSlowReconciles(second, time.Minute))
		add(r, "1s", "1001ms", "10ms")
		pass(time.Minute)
		require.Len(t, r.log.all(), 1)
		assert.Contains(t, r.logged(), `"Processing was slow" queue="pods" key="1001ms" took="1.001s" limit="1s" leftOut=0`)
		assert.True(t, strings.HasPrefix(r.logged(), "I"), "it is no error")
		r.cancel()

		r = runSlowly(t, 2)
		r.Add("1h")
		pass(2 * time.Hour)
		assert.Empty(t, r.logged(), "without the option")
		r.cancel()
	})
}

// TestStuckCallsAreLogged once and while they last, with their stacks.
func TestStuckCallsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		r := runSlowly(t, 3, queue.WithSlowReconciles(time.Hour, 10*second))
		r.Add("9s/a")
		pass(second)
		r.Add("30s/b")
		pass(10*second - moment)
		assert.Empty(t, r.logged())
		assert.Zero(t, r.Report(9).Stuck)
		pass(2 * moment)
		require.Len(t, r.log.all(), 1)
		logged := r.logged()
		assert.Contains(t, logged, `"Processing does not return" queue="pods" key="30s/b" since="`+start.Add(second).Format("2006-01-02 15:04:05"))
		assert.Contains(t, logged, "queue_test.takeAWhile")
		assert.Equal(t, 1, strings.Count(logged, "\tgoroutine "), "its stack alone")
		report := r.Report(9)
		assert.Equal(t, 1, report.Stuck)
		assert.True(t, report.InWork[0].Stuck)

		pass(second)
		r.Add("11s/c")
		pass(10*second - moment)
		require.Len(t, r.log.all(), 1, "it was logged")
		pass(moment)
		require.Len(t, r.log.all(), 2)
		assert.Contains(t, r.log.all()[1], "11s/c")
		r.cancel()
		pass(time.Minute)
		require.True(t, r.hasEnded())
	})
}

// TestSlowLinesAreFew has more to log than there may be lines, of both kinds.
func TestSlowLinesAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runSlowly(t, 10, queue.WithSlowReconciles(second, 5*second))
		for i := range 10 {
			r.Add(fmt.Sprint("10s/", i))
		}
		pass(30 * second)
		require.Len(t, r.log.all(), 6)
		r.Add("2s/late")
		pass(40 * second)
		require.Len(t, r.log.all(), 6, "the minute is not over")
		r.Add("2s/later")
		pass(10 * second)
		require.Len(t, r.log.all(), 7)
		assert.Contains(t, r.log.all()[6], "leftOut=15", "four stacks, ten calls and the late one")
		r.cancel()
	})
}

// TestSlowCallsHaveNoGoroutine but a timer, which ends with Run.
func TestSlowCallsHaveNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runSlowly(t, 1, queue.WithSlowReconciles(second, 10*time.Minute))
		idle := inBubbles()
		add(r, "1s", "2m")
		pass(2 * second)
		assert.Equal(t, idle, inBubbles())
		pass(time.Minute)
		r.cancel()
		began := time.Now()
		pass(time.Hour)
		require.True(t, r.hasEnded())
		assert.Equal(t, time.Hour, time.Since(began))
		assert.Len(t, r.log.all(), 1, "2m was slow, and the timer has ended")
	})
}

// TestSlowCallsByAnotherClock: the clock of the queue counts, not the real one.
func TestSlowCallsByAnotherClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := testingclock.NewFakeClock(time.Now())
		r := runSlowly(t, 1, queue.WithClock(clock), queue.WithSlowReconciles(second, 10*second))
		r.Add("1h")
		pass(time.Minute)
		assert.Empty(t, r.logged())
		clock.Step(10 * second)
		assert.Contains(t, r.logged(), `"Processing does not return"`)
		r.cancel()
		pass(time.Hour)
		require.True(t, r.hasEnded())
		assert.Contains(t, r.logged(), `"Processing was slow" queue="pods" key="1h" took="10s"`)
	})
}
