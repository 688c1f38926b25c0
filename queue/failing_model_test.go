package queue_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/queue"
)

// TestFailingKeysModel processes keys with random outcomes, and compares the reported failures with
// those that happened.
func TestFailingKeysModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.SliceOfN(rapid.IntRange(0, 99), 20, 200).Draw(rt, "outcomes")
		workers := rapid.IntRange(1, 3).Draw(rt, "workers")
		synctest.Test(t, func(t *testing.T) { failingKeysModel(t, seed, workers) })
	})
}

func failingKeysModel(t *testing.T, outcomes []int, workers int) {
	q := newQueue[int](t, queue.WithRateLimiter(workqueue.NewTypedItemExponentialFailureRateLimiter[int](second, 8*second)))
	truth := map[int]queue.Failing{}
	turn := make(chan struct{}, 1)
	next := 0
	process := func(_ context.Context, key int) error {
		time.Sleep(moment)
		turn <- struct{}{}
		defer func() { <-turn }()
		if next == len(outcomes) {
			delete(truth, key)
			return nil
		}
		now, outcome := time.Now(), outcomes[next]
		next++
		if outcome < 30 || 60 <= outcome && outcome < 70 {
			delete(truth, key)
			if outcome < 30 {
				return nil
			}
			return queue.RequeueAfter(second)
		}
		f, ok := truth[key]
		if !ok {
			f = queue.Failing{Key: fmt.Sprint(key), Since: now}
		}
		f.Failures++
		f.Last, f.Err, f.Terminal = now, errors.New("broken"), outcome >= 85
		if f.Terminal {
			f.Err = queue.TerminalError(f.Err)
		}
		truth[key] = f
		return f.Err
	}
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(io.Discard)))))
	ended := make(chan error)
	go func() { ended <- q.Run(ctx, workers, process) }()
	for step, outcome := range outcomes {
		if step%3 == 0 {
			q.Add(outcome % 7)
		}
		pass(time.Duration(outcome) * 30 * time.Millisecond)
		turn <- struct{}{}
		report := q.Report(100)
		assert.Equal(t, len(truth), report.FailingKeys)
		last := int(^uint(0) >> 1)
		for _, f := range report.Failing {
			assert.LessOrEqual(t, f.Failures, last, "most failures first")
			last = f.Failures
			var key int
			_, err := fmt.Sscan(f.Key, &key)
			assert.NoError(t, err)
			assert.Equal(t, truth[key], f)
			assert.Equal(t, &f, q.KeyState(key).Failing)
		}
		<-turn
	}
	cancel()
	assert.NoError(t, <-ended)
}
