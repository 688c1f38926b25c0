package simulation_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/apitest/simulation"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/control"
)

// noState is that of a check that does not look at the servers.
var noState simulation.State

func TestWorkersNoticeTheOwnerOfAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w simulation.Workers[string]
		process := w.Wrap(func(context.Context, string) error { time.Sleep(time.Second); return assert.AnError })
		assert.Equal(t, assert.AnError, process(t.Context(), "a"))
		assert.Equal(t, assert.AnError, process(t.Context(), "a"), "one after the other")
		go func() { _ = process(t.Context(), "a") }()
		synctest.Wait()
		_ = process(t.Context(), "b")
		time.Sleep(time.Second) // the other one ends as well
		require.NoError(t, w.Twice(noState))
		go func() { _ = process(t.Context(), "a") }()
		time.Sleep(time.Second / 2)
		_ = process(t.Context(), "a")
		assert.EqualError(t, w.Twice(noState), "key a is with a worker for 500ms, and with another one")
	})
}

func TestWorkersNoticeLostKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w simulation.Workers[string]
		var added []string
		q := w.Adder(control.AdderFunc[string](func(key string) { added = append(added, key) }))
		process := w.Wrap(func(context.Context, string) error { return nil })
		q.AddWithOptions("a", queue.AddOptions{})
		q.AddWithOptions("later", queue.AddOptions{After: time.Minute})
		q.AddWithOptions("unknown", queue.AddOptions{RateLimited: true})
		assert.Equal(t, []string{"a", "later", "unknown"}, added)
		time.Sleep(time.Second)
		assert.EqualError(t, w.Lost(noState), "key a waits for 1s, and 1 keys with it")
		require.NoError(t, process(t.Context(), "a"))
		assert.NoError(t, w.Lost(noState))
		time.Sleep(time.Minute)
		assert.ErrorContains(t, w.Lost(noState), "key later waits for 1s")
		require.NoError(t, process(t.Context(), "later"))

		again := w.Wrap(func(context.Context, string) error { q.AddWithOptions("a", queue.AddOptions{}); return nil })
		require.NoError(t, again(t.Context(), "a"))
		assert.ErrorContains(t, w.Lost(noState), "key a waits", "it was added while it was processed")
	})
}
