package ctrlruntime_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
)

// controllers are ways to set up a controller.
var controllers = map[string]func(o *controller.TypedOptions[string]) error{
	"controller-runtime": func(*controller.TypedOptions[string]) error { return nil },
	"typed":              func(o *controller.TypedOptions[string]) error { return ctrlruntime.ConfigureController(o) },
}

// run runs a controller that starts with requests of several priorities, ends it
// after four reconciliations, and returns what it has reconciled, in order. The first
// request leads to outcome. Each takes two seconds, and each retry comes after one.
func run(t *testing.T, o controller.TypedOptions[string], outcome func() (reconcile.Result, error)) []string {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var order []string
	o.SkipNameValidation = new(true)
	o.RateLimiter = workqueue.NewTypedItemExponentialFailureRateLimiter[string](second, second)
	o.Reconciler = reconcile.TypedFunc[string](func(_ context.Context, key string) (reconcile.Result, error) {
		time.Sleep(2 * second)
		order = append(order, key)
		if len(order) == 4 {
			cancel()
			synctest.Wait() // the controller has shut its queue down
		}
		if len(order) == 1 {
			return outcome()
		}
		return reconcile.Result{}, nil
	})
	c, err := controller.NewTypedUnmanaged(unique("strings"), o)
	require.NoError(t, err)
	require.NoError(t, c.Watch(source.TypedFunc[string](func(_ context.Context, queue workqueue.TypedRateLimitingInterface[string]) error {
		q := queue.(priorityQueue)
		q.AddWithOpts(at(-100), "initial")
		q.AddWithOpts(at(3), "third")
		q.AddWithOpts(at(5), "second")
		q.AddWithOpts(at(7), "retried")
		return nil
	})))
	require.NoError(t, c.Start(ctx))
	return order
}

// The low priority is not reconciled: the controller stops before.
func TestControllerKeepsPriorities(t *testing.T) {
	for name, test := range map[string]struct {
		outcome func() (reconcile.Result, error)
		want    []string
	}{
		"after an error": {
			func() (reconcile.Result, error) { return reconcile.Result{}, errors.New("try again") },
			[]string{"retried", "second", "retried", "third"},
		},
		"that are to be later": {
			func() (reconcile.Result, error) { return reconcile.Result{RequeueAfter: second}, nil },
			[]string{"retried", "second", "retried", "third"},
		},
		"unless it says another": {
			func() (reconcile.Result, error) {
				return reconcile.Result{RequeueAfter: second, Priority: new(2)}, nil
			},
			[]string{"retried", "second", "third", "retried"},
		},
	} {
		for build, configure := range controllers {
			t.Run(name+"/"+build, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var o controller.TypedOptions[string]
					require.NoError(t, configure(&o))
					assert.Equal(t, test.want, run(t, o, test.outcome))
				})
			})
		}
	}
}
