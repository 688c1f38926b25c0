package queue_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/queue"
)

func TestReportOfAnEmptyQueue(t *testing.T) {
	q := newQueue[string](t, queue.WithName("pods"))
	assert.Equal(t, queue.Report{Name: "pods"}, q.Report(10))
	q.ShutDown()
	assert.Equal(t, queue.Report{Name: "pods", ShutDown: true}, q.Report(10))
	assert.Equal(t, queue.KeyState{}, q.KeyState("a"))
}

// TestReport reads a running queue with keys in all states.
func TestReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		r := runQueue(t, 2, func(ctx context.Context, key string) error {
			<-ctx.Done()
			return ctx.Err()
		})
		defer r.cancel()
		r.Add("busy")
		pass(second)
		r.Add("busier")
		pass(second)
		r.AddWithOptions("low", priority(-1))
		pass(second)
		r.Add("next")
		r.Add("last")
		r.AddWithOptions("busy", priority(3))
		r.AddWithOptions("later", queue.AddOptions{Priority: 7, After: time.Minute})

		got := r.Report(10)
		assert.Equal(t, queue.Report{
			Name:   "pods",
			Stats:  queue.Stats{Waiting: 3, InFlight: 2, Dirty: 1, Delayed: 1, OldestAge: second, Retries: 1},
			Depths: []queue.Depth{{Priority: 0, Waiting: 2}, {Priority: -1, Waiting: 1}},
			Oldest: "low",
			InWork: []queue.InWork{{Key: "busy", Began: start}, {Key: "busier", Began: start.Add(second)}},
		}, got)
		assert.Equal(t, queue.KeyState{InWork: start, Dirty: true, Priority: 3}, r.KeyState("busy"))
		assert.Equal(t, queue.KeyState{InWork: start.Add(second)}, r.KeyState("busier"))
		assert.Equal(t, queue.KeyState{Waiting: start.Add(2 * second), Priority: -1}, r.KeyState("low"))
		assert.Equal(t, queue.KeyState{DelayedUntil: start.Add(3*second + time.Minute), Priority: 7}, r.KeyState("later"))
		assert.Equal(t, queue.KeyState{}, r.KeyState("unheard of"))

		got = r.Report(1)
		assert.Len(t, got.Depths, 1)
		assert.Equal(t, []queue.InWork{{Key: "busy", Began: start}}, got.InWork, "the one that is longest in work")
		assert.Empty(t, r.Report(-1).InWork)
		assert.Equal(t, "low", r.Report(0).Oldest)

		time.Sleep(5*time.Minute - 3*second)
		assert.Zero(t, r.Report(10).Stuck)
		time.Sleep(second)
		got = r.Report(10)
		assert.Equal(t, 1, got.Stuck)
		assert.True(t, got.InWork[0].Stuck, "for longer than 5 minutes")
		assert.False(t, got.InWork[1].Stuck)
		time.Sleep(second)
		assert.Equal(t, 2, r.Report(0).Stuck, "also of those that are not listed")
	})
}

// TestReportOfKeysThatOthersGet: without Run, reports show when they first saw a key processing.
func TestReportOfKeysThatOthersGet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		q := newQueue[string](t)
		add(q, "a", "b")
		_, _ = get(t, q), get(t, q)
		pass(second)
		assert.Equal(t, []queue.InWork{{Key: "a", Began: start.Add(second)}}, q.Report(1).InWork, "when it was first seen")
		pass(second)
		assert.Equal(t, queue.KeyState{InWork: start.Add(second)}, q.KeyState("a"))
		assert.Equal(t, queue.KeyState{InWork: start.Add(2 * second)}, q.KeyState("b"))
		q.Done("a")
		assert.Equal(t, []queue.InWork{{Key: "b", Began: start.Add(2 * second)}}, q.Report(9).InWork)
		q.Done("b")
		assert.Empty(t, q.Report(9).InWork)

		q = newQueue[string](t, queue.WithName("measured"), queue.WithMetrics(newRecorder()))
		q.Add("a")
		_ = get(t, q)
		pass(second)
		assert.Equal(t, []queue.InWork{{Key: "a", Began: start.Add(2 * second)}}, q.Report(9).InWork, "metrics know")
		q.ShutDown()
	})
}

// TestReportIsInWords formats keys that are not strings.
func TestReportIsInWords(t *testing.T) {
	q := newQueue[cache.ObjectName](t)
	q.Add(cache.ObjectName{Namespace: "kube-system", Name: "dns"})
	assert.Equal(t, "kube-system/dns", q.Report(1).Oldest)

	odd := newQueue[any](t)
	odd.Add(&spoken{func() string { panic("no words") }})
	assert.Contains(t, odd.Report(1).Oldest, "PANIC", "a method that panics does no harm")

	samples := newQueue[sample](t)
	assert.Equal(t, queue.KeyState{}, samples.KeyState(sample{value: [2]float64{math.NaN()}}))
}

// spoken is a key that a function puts into words.
type spoken struct{ words func() string }

func (k *spoken) String() string { return k.words() }

// TestReportIsBounded has more in the queue than a report has room for.
func TestReportIsBounded(t *testing.T) {
	q := newQueue[int](t)
	for i := range 3000 {
		q.AddWithOptions(i, priority(i/2))
	}
	for range 1499 {
		_, _ = q.Get()
	}
	got := q.Report(math.MaxInt)
	assert.Len(t, got.InWork, 1000)
	assert.Equal(t, 1499, got.InFlight)
	assert.Len(t, got.Depths, 1000)
	assert.Greater(t, got.Depths[0].Priority, got.Depths[999].Priority)
	q.ShutDown()
}

// TestFailingKeys goes through all outcomes.
func TestFailingKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		broken, hopeless := errors.New("broken"), queue.TerminalError(errors.New("hopeless"))
		var works atomic.Bool
		r := runQueue(t, 1, func(_ context.Context, key string) error {
			switch {
			case key == "fine" || works.Load():
				return nil
			case key == "terminal":
				return hopeless
			case key == "panics":
				panic("oops")
			}
			return broken
		})
		defer r.cancel()
		add(r, "fine", "broken", "terminal")
		pass(second + moment) // the second try of broken
		got := r.Report(10)
		assert.Equal(t, []queue.Failing{
			{Key: "broken", Failures: 2, Since: start, Last: start.Add(second), Err: broken},
			{Key: "terminal", Failures: 1, Since: start, Last: start, Err: hopeless, Terminal: true},
		}, got.Failing)
		assert.Equal(t, 2, got.FailingKeys)
		assert.Equal(t, start, got.FailingSince)
		assert.Equal(t, got.Failing[1], *r.KeyState("terminal").Failing)
		assert.Nil(t, r.KeyState("fine").Failing)
		assert.Equal(t, start.Add(3*second), r.KeyState("broken").DelayedUntil, "with what is known besides")
		assert.Len(t, r.Report(1).Failing, 1)
		assert.Equal(t, 2, r.Report(1).FailingKeys)

		r.Add("terminal")
		pass(moment)
		assert.Equal(t, 2, r.KeyState("terminal").Failing.Failures, "it was added anew, and fails again")
		works.Store(true)
		r.Add("terminal")
		pass(3 * second)
		assert.Empty(t, r.Report(10).Failing)
		assert.Equal(t, queue.KeyState{}, r.KeyState("terminal"))
		assert.Zero(t, r.Report(10).FailingKeys)
	})
}

// TestFailingEndsWithRequeueAfter and is not begun by a context that ends.
func TestFailingEndsWithRequeueAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		r := runQueue(t, 1, func(ctx context.Context, key string) error {
			switch calls.Add(1) {
			case 1:
				return errors.New("broken")
			case 2:
				return queue.RequeueAfter(second)
			}
			<-ctx.Done()
			return ctx.Err()
		})
		r.Add("a")
		pass(moment)
		require.Equal(t, 1, r.Report(0).FailingKeys)
		pass(second)
		assert.Zero(t, r.Report(0).FailingKeys)
		pass(second)
		r.cancel()
		require.True(t, r.hasEnded())
		assert.Zero(t, r.Report(0).FailingKeys, "to be stopped is no failure")
	})
}

// TestFailingKeysAreBounded has more keys fail than are kept.
func TestFailingKeysAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runQueue(t, 1, func(_ context.Context, key string) error {
			if key == "k3" {
				return nil
			}
			return queue.TerminalError(nil)
		})
		defer r.cancel()
		for i := range 10_007 {
			r.Add(fmt.Sprint("k", i))
		}
		synctest.Wait()
		got := r.Report(3)
		assert.Equal(t, 10_000, got.FailingKeys)
		assert.EqualValues(t, 6, got.MissedFailures)
		assert.Len(t, got.Failing, 3)
		r.Add("k10006")
		r.Add("k5")
		synctest.Wait()
		got = r.Report(3)
		assert.EqualValues(t, 7, got.MissedFailures)
		assert.Equal(t, 2, got.Failing[0].Failures, "one that is known is counted still")
	})
}

// TestReportOfStuckKeysBehindOthers: a key that Get handed out, at a time that is not known,
// hides none that Run is stuck with.
func TestReportOfStuckKeysBehindOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue[string](t)
		q.Add("a")
		_, err := q.GetContext(t.Context())
		require.NoError(t, err)
		q.Add("b")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- q.Run(ctx, 1, func(ctx context.Context, _ string) error { <-ctx.Done(); return nil })
		}()
		time.Sleep(10 * time.Minute)
		assert.Equal(t, 1, q.Report(0).Stuck)
		assert.Equal(t, 1, q.Report(1).Stuck)
		assert.Equal(t, 1, q.Report(10).Stuck)
		cancel()
		require.NoError(t, <-done)
	})
}

// TestKeyStateHoldsNoLock while it puts a key that fails into words: these depend on what the queue
// knows of another key.
func TestKeyStateHoldsNoLock(t *testing.T) {
	q := newQueue[any](t)
	other := &spoken{func() string { return "other" }}
	curious := &spoken{func() string {
		known := make(chan *queue.Failing, 1)
		go func() { known <- q.KeyState(other).Failing }()
		select {
		case other := <-known:
			return "curious of " + other.Key
		case <-time.After(5 * time.Second):
			return "curious in vain"
		}
	}}
	q.Add(other)
	q.Add(curious)
	q.ShutDown()
	err := q.Run(t.Context(), 1, func(context.Context, any) error { return queue.TerminalError(nil) })
	require.ErrorIs(t, err, queue.ErrShutDown)
	assert.Equal(t, "curious of other", q.KeyState(curious).Failing.Key)
}
