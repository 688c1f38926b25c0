package metrics_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/adapters/metrics"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
)

// TestQueue reads the metrics of one that is run, those of client-go's queues and more.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := float64(time.Now().Unix())
		r, m := newMetrics(t)
		q, err := queue.NewWorkQueue[string](queue.WithName("pods"), queue.WithMetrics(m),
			queue.WithRateLimiter(workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Second)))
		require.NoError(t, err)
		require.NoError(t, m.Add(metrics.WithQueues(q)))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- q.Run(ctx, 2, func(ctx context.Context, key string) error {
				switch key {
				case "fails":
					return errors.New("broken")
				case "done":
					return nil
				}
				<-ctx.Done()
				return nil
			})
		}()
		q.Add("fails")
		q.Add("done")
		time.Sleep(1500 * time.Millisecond)
		q.Add("busy")
		q.Add("busier")
		synctest.Wait()
		q.AddWithOptions("waits", queue.AddOptions{Priority: 5})
		q.AddAfter("later", time.Hour)
		time.Sleep(time.Second)
		synctest.Wait()
		got := gather(t, r)
		for name, want := range map[string]float64{
			`kubetyped_queue_waiting_keys{name="pods",priority="5"}`:       1,
			`kubetyped_queue_waiting_keys{name="pods",priority="0"}`:       1, // fails, for which no worker is left
			`kubetyped_queue_in_work_keys{name="pods"}`:                    2,
			`kubetyped_queue_delayed_keys{name="pods"}`:                    1,
			`kubetyped_queue_oldest_waiting_seconds{name="pods"}`:          1,
			`kubetyped_queue_stuck_keys{name="pods"}`:                      0,
			`kubetyped_queue_failing_keys{name="pods"}`:                    1,
			`kubetyped_queue_first_failure_timestamp_seconds{name="pods"}`: start,
			`kubetyped_queue_most_failures{name="pods"}`:                   2,
			`workqueue_depth{name="pods"}`:                                 2,
			`workqueue_adds_total{name="pods"}`:                            7,
			`workqueue_retries_total{name="pods"}`:                         3,
			`workqueue_queue_duration_seconds_count{name="pods"}`:          5,
			`workqueue_work_duration_seconds_count{name="pods"}`:           3,
			`workqueue_longest_running_processor_seconds{name="pods"}`:     1,
			`workqueue_unfinished_work_seconds{name="pods"}`:               2,
		} {
			assert.InDelta(t, want, got[name], 0.51, name)
		}
		time.Sleep(10 * time.Minute)
		assert.EqualValues(t, 2, gather(t, r)[`kubetyped_queue_stuck_keys{name="pods"}`])
		cancel()
		require.NoError(t, <-ended)
	})
}

// TestWithoutClientGoNames: no metric of client-go's names is exported.
func TestWithoutClientGoNames(t *testing.T) {
	r, m := newMetrics(t, metrics.WithoutClientGoNames())
	q, err := queue.NewWorkQueue[string](queue.WithName("pods"), queue.WithMetrics(m))
	require.NoError(t, err)
	q.Add("a")
	key, _ := q.Get()
	q.Done(key)
	q.ShutDown()
	for name := range gather(t, r) {
		assert.NotContains(t, name, "workqueue_")
	}
}

// TestExpectations reads the metrics of two by the same name.
func TestExpectations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m := newMetrics(t)
		informer := typed.NewInformer[*corev1.ConfigMap](newScripted("", "Pod"))
		for range 2 {
			e, err := control.NewExpectations(control.AdderFunc[index.Key](func(index.Key) {}), control.WithExpectationTimeout(time.Minute))
			require.NoError(t, err)
			require.NoError(t, m.Add(metrics.WithExpectations("pods", e), metrics.WithExpectations("pods", e), metrics.WithExpectations("other", e)))
			key := index.Key{Name: "a"}
			require.NoError(t, e.Expect(key, informer, "7"))
			require.NoError(t, e.Wrap(func(context.Context, index.Key) error { return errors.New("not yet") })(t.Context(), key))
		}
		got := gather(t, r)
		assert.EqualValues(t, 2, got[`kubetyped_expectations_keys{name="pods"}`])
		assert.EqualValues(t, 2, got[`kubetyped_expectations_waiting_keys{name="pods"}`])
		assert.EqualValues(t, 2, got[`kubetyped_expectations_put_off_total{name="pods"}`])
		assert.EqualValues(t, 2, got[`kubetyped_expectations_put_off_total{name="other"}`])
		time.Sleep(2 * time.Minute)
		got = gather(t, r)
		assert.EqualValues(t, 0, got[`kubetyped_expectations_keys{name="pods"}`])
		assert.EqualValues(t, 2, got[`kubetyped_expectations_expired_total{name="pods"}`])
	})
}
