package ctrlruntime_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
)

func TestConfigureControllerKeepsSetOptions(t *testing.T) {
	o := controller.Options{MaxConcurrentReconciles: 8, UsePriorityQueue: new(true)}
	require.NoError(t, ctrlruntime.ConfigureController(&o))
	assert.NotNil(t, o.NewQueue)
	o.NewQueue = nil
	assert.Equal(t, controller.Options{MaxConcurrentReconciles: 8, UsePriorityQueue: new(true)}, o)
}

func TestConfigureControllerDoesNotReplaceAnotherQueue(t *testing.T) {
	used := false
	o := controller.Options{NewQueue: func(string, workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		used = true
		return nil
	}}
	require.ErrorContains(t, ctrlruntime.ConfigureController(&o), "NewQueue is set already")
	o.NewQueue("", nil)
	assert.True(t, used)
	require.Error(t, ctrlruntime.ConfigureController[index.Key](nil))
}

func TestConfigureControllerRejectsBadOptions(t *testing.T) {
	for name, opt := range map[string]queue.Option{
		"nil":           nil,
		"a wrong value": queue.WithAgeing(-1),
		"a wrong type":  queue.WithFairness(func(string) string { return "" }),
	} {
		t.Run(name, func(t *testing.T) {
			o := controller.Options{}
			require.ErrorContains(t, ctrlruntime.ConfigureController(&o, opt), "configure controller")
			assert.Nil(t, o.NewQueue)
		})
	}
}

func TestConfigureControllerUsesItsRateLimiter(t *testing.T) {
	for _, usePriorityQueue := range []bool{true, false} {
		o := controller.TypedOptions[string]{UsePriorityQueue: &usePriorityQueue}
		require.NoError(t, ctrlruntime.ConfigureController(&o, queue.WithName("another"), queue.WithRateLimiter[string](byKey{nil})))
		calls := map[string]int{}
		q := o.NewQueue("limited", byKey{calls})
		q.AddRateLimited("0s")
		assert.Equal(t, map[string]int{"0s": 1}, calls)
		key, _ := q.Get()
		assert.Equal(t, "0s", key)
		q.ShutDown()
	}
}

func TestConfigureControllerPassesOptionsOn(t *testing.T) {
	for _, usePriorityQueue := range []bool{true, false} {
		o := controller.TypedOptions[string]{UsePriorityQueue: &usePriorityQueue}
		require.NoError(t, ctrlruntime.ConfigureController(&o, queue.WithFairness(func(key string) string { return key[:1] })))
		q := o.NewQueue("", nil)
		for _, key := range []string{"a1", "a2", "b1"} {
			q.Add(key)
		}
		for _, want := range []string{"a1", "b1", "a2"} {
			key, _ := q.Get()
			assert.Equal(t, want, key)
		}
		q.ShutDown()
	}
}

func TestConfigureControllerHeedsUsePriorityQueue(t *testing.T) {
	o := controller.TypedOptions[string]{UsePriorityQueue: new(false)}
	require.NoError(t, ctrlruntime.ConfigureController(&o))
	q := o.NewQueue("plain", nil)
	_, plain := q.(*queue.WorkQueue[string])
	assert.True(t, plain, "%T", q)
	_, hasPriorities := q.(priorityQueue)
	assert.False(t, hasPriorities)
	q.ShutDown()

	o = controller.TypedOptions[string]{}
	require.NoError(t, ctrlruntime.ConfigureController(&o))
	q = o.NewQueue("priorities", nil)
	_, hasPriorities = q.(priorityQueue)
	assert.True(t, hasPriorities, "%T", q)
	q.ShutDown()
}
