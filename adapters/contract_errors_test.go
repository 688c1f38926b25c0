package adapters_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// watchFaults returns the errors that the informer's watch error handler gets.
func watchFaults(t *testing.T, r *rig) *[]error {
	var faults []error
	require.NoError(t, r.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
		assert.NotNil(t, reflector)
		assert.NoError(t, ctx.Err())
		faults = append(faults, err)
	}))
	return &faults
}

func TestContractWatchErrorHandler(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		var reflector *cache.Reflector
		var fault error
		require.NoError(t, r.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {
			assert.Fail(t, "the last handler that was set counts")
		}))
		require.NoError(t, r.SetWatchErrorHandler(func(r *cache.Reflector, err error) { reflector, fault = r, err }))
		boom := errors.New("boom")
		r.script.fails(boom)
		r.run()
		require.NotNil(t, reflector)
		assert.Equal(t, "*v1.Pod", reflector.TypeDescription())
		assert.Empty(t, reflector.LastSyncResourceVersion())
		assert.ErrorIs(t, fault, boom)
		assert.EqualError(t, fault, "failed to list *v1.Pod: boom")
		r.script.awaitLists(2)
		assert.Equal(t, "10", reflector.LastSyncResourceVersion())
	})
}

func TestContractWatchErrorHandlerGetsContextOfRun(t *testing.T) {
	type key struct{}
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		var got any
		require.NoError(t, r.SetWatchErrorHandlerWithContext(func(ctx context.Context, _ *cache.Reflector, _ error) { got = ctx.Value(key{}) }))
		r.script.fails(assert.AnError)
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		ended := make(chan struct{})
		go func() { defer close(ended); r.RunWithContext(ctx) }()
		r.script.awaitLists(2)
		cancel()
		<-ended
		assert.Equal(t, "value", got)
	})
}

func TestContractWatchErrorHandlerAfterStart(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		set := func() (error, error) {
			return r.SetWatchErrorHandler(func(*cache.Reflector, error) {}), r.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {})
		}
		r.run()
		one, other := set()
		assert.ErrorContains(t, one, "informer has already started")
		assert.ErrorContains(t, other, "informer has already started")
		r.halt()
		one, other = set()
		assert.ErrorContains(t, one, "informer has already started")
		assert.ErrorContains(t, other, "informer has already started")
	})
}

// Users' handlers hand on to client-go's.
func TestContractDefaultWatchErrorHandler(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		require.NoError(t, r.SetWatchErrorHandlerWithContext(cache.DefaultWatchErrorHandler))
		r.script.fails(assert.AnError, apierrors.NewForbidden(corev1.Resource("pods"), "", nil))
		r.run()
		r.script.awaitLists(3)
		assert.True(t, r.HasSynced())
	})
}

// None is client-go's.
func TestContractNoWatchErrorHandler(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newRig(t, pods)
		watchFaults(t, r)
		require.NoError(t, r.SetWatchErrorHandlerWithContext(nil))
		r.script.fails(assert.AnError)
		r.run()
		r.script.awaitLists(2)
		assert.True(t, r.HasSynced())
	})
}

func TestContractListFailsAfterSync(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, 0)
		faults := watchFaults(t, r)
		rec := r.handle()
		r.run()
		rec.next()
		r.script.fails(assert.AnError, assert.AnError)
		r.send(expired())
		r.script.awaitLists(4)
		require.Len(t, *faults, 2)
		assert.ErrorIs(t, (*faults)[1], assert.AnError)
		assert.True(t, r.HasSynced(), "it stays so")
		assert.Equal(t, []string{"update ns/a@1 ns/a@1"}, rec.next(), "failures change nothing")
		assert.Equal(t, []string{"0", "10", "10", "10"}, versionsOf(r.script.listCalls()))
	})
}

// A version that the list does not have any more is asked for without, at once.
func TestContractListOfExpiredVersion(t *testing.T) {
	tooLarge := apierrors.NewTimeoutError("too large", 1)
	tooLarge.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
	gone := &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusGone, Reason: metav1.StatusReasonGone}}
	for _, err := range []error{apierrors.NewResourceExpired("too old"), gone, tooLarge} {
		t.Run(string(apierrors.ReasonForError(err)), func(t *testing.T) {
			eachInformer(t, func(t *testing.T, pods newPods) {
				r := newResyncRig(t, pods, 0)
				faults := watchFaults(t, r)
				r.run()
				r.script.fails(err)
				r.send(expired())
				r.script.awaitLists(3)
				calls := r.script.listCalls()
				assert.Equal(t, []string{"0", "10", ""}, versionsOf(calls))
				assert.Equal(t, calls[1].at, calls[2].at)
				assert.Empty(t, *faults)
				r.send(expired())
				r.script.awaitLists(4)
				assert.Equal(t, "10", r.script.listCalls()[3].options.ResourceVersion, "then as ever")
			})
		})
	}
}

// An error that ends a watch is not reported; it leads to a relist or to another watch.
func TestContractWatchEnds(t *testing.T) {
	tooMany := apierrors.NewTooManyRequests("later", 1)
	tests := []struct {
		name  string
		err   *apierrors.StatusError
		lists int
	}{
		{"expired", apierrors.NewResourceExpired("too old"), 2},
		{"internal error", apierrors.NewInternalError(errors.New("oops")), 2},
		{"forbidden", apierrors.NewForbidden(corev1.Resource("pods"), "", nil), 2},
		{"too many requests", tooMany, 1},
	}
	for _, test := range tests {
		t.Run("with event "+test.name, func(t *testing.T) {
			eachInformer(t, func(t *testing.T, pods newPods) {
				r := newResyncRig(t, pods, 0)
				faults := watchFaults(t, r)
				r.run()
				r.send(added(pod("b", "11")), failed(test.err))
				r.script.awaitWatches(2)
				assert.Len(t, r.script.listCalls(), test.lists)
				assert.Empty(t, *faults, "the handler is not told")
				if test.lists == 2 {
					assert.Equal(t, "11", r.script.listCalls()[1].options.ResourceVersion)
				} else {
					assert.Equal(t, "11", r.script.watchCalls()[1].options.ResourceVersion)
				}
				calls := r.script.watchCalls()
				assert.Positive(t, calls[1].at.Sub(calls[0].at), "it waits")
			})
		})
		t.Run("with refusal "+test.name, func(t *testing.T) {
			eachInformer(t, func(t *testing.T, pods newPods) {
				r := newResyncRig(t, pods, 0)
				faults := watchFaults(t, r)
				r.script.refuses(test.err)
				r.run()
				r.script.awaitWatches(2)
				assert.Len(t, r.script.listCalls(), test.lists)
				if test.lists == 2 {
					assert.Equal(t, []error{test.err}, *faults, "as it is")
				} else {
					assert.Empty(t, *faults)
				}
				calls := r.script.watchCalls()
				assert.Positive(t, calls[1].at.Sub(calls[0].at))
				assert.True(t, r.HasSynced(), "the list has come")
			})
		})
	}
}

// A watch that ends within a second without an event is as good as a failure.
func TestContractVeryShortWatch(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, 0)
		faults := watchFaults(t, r)
		r.run()
		r.send(ended())
		r.script.awaitLists(2)
		assert.Empty(t, *faults)
		time.Sleep(2 * time.Second)
		r.send(ended())
		assert.Len(t, r.script.watchCalls(), 3)
		assert.Len(t, r.script.listCalls(), 2, "a longer one goes on")
	})
}

func TestContractListOfNoList(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, 0)
		faults := watchFaults(t, r)
		r.script.answersOnce(func(metav1.ListOptions) (runtime.Object, error) { return pod("a", "1"), nil })
		r.run()
		r.script.awaitLists(2)
		require.Len(t, *faults, 1)
		assert.ErrorContains(t, (*faults)[0], "failed to list *v1.Pod: returned object must be a list")
		assert.True(t, r.HasSynced())
	})
}

func versionsOf(calls []call) []string {
	var versions []string
	for _, c := range calls {
		versions = append(versions, c.options.ResourceVersion)
	}
	return versions
}
