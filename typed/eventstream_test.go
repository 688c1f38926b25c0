package typed_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
)

// endOf ranges over events until they end.
func endOf(events *typed.EventStream[*rig.Thing]) error {
	for range events.All() {
	}
	return events.Err()
}

// TestEventsReturnTheCauseOfTheirEnd, and the failure of list and watch.
func TestEventsReturnTheCauseOfTheirEnd(t *testing.T) {
	broken, enough := errors.New("broken"), errors.New("waited long enough")
	short := func(t *testing.T) context.Context {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, enough)
		t.Cleanup(cancel)
		return ctx
	}
	for name, test := range map[string]struct {
		end  func(t *testing.T, r *rig.Rig) error
		is   []error
		text string
	}{
		"the context": {func(t *testing.T, r *rig.Rig) error {
			r.Start()
			sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
			return endOf(r.Events(short(t)))
		}, []error{enough}, "informer *rig.Thing: event stream ended: waited long enough"},
		"the context, before": {func(t *testing.T, r *rig.Rig) error {
			r.Start()
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(enough)
			return endOf(r.Events(ctx))
		}, []error{enough}, "informer *rig.Thing: event stream ended: waited long enough"},
		"the context, while list and watch fail": {func(t *testing.T, r *rig.Rig) error {
			r.Start()
			r.Sink.Report(broken)
			return endOf(r.Events(short(t)))
		}, []error{enough, broken}, "informer *rig.Thing: event stream ended: waited long enough; list or watch fails since 2000-01-01T00:00:00Z (1×), lately with: broken"},
		"the context, without Run": {func(t *testing.T, r *rig.Rig) error {
			return endOf(r.Events(short(t)))
		}, []error{enough, typed.ErrNotStarted}, "informer *rig.Thing: event stream ended: waited long enough; the informer was not started: call Run"},
		"the informer": {func(t *testing.T, r *rig.Rig) error {
			r.Start()
			go func() {
				time.Sleep(time.Second)
				r.Stop()
			}()
			return endOf(r.Events(t.Context()))
		}, []error{typed.ErrStopped}, "informer *rig.Thing: event stream ended: the informer has stopped"},
		"the source": {func(t *testing.T, r *rig.Rig) error {
			r.Start()
			go func() {
				time.Sleep(time.Second) // the stream has begun
				r.Script.Fail <- broken
			}()
			return endOf(r.Events(t.Context()))
		}, []error{typed.ErrStopped, broken}, "informer *rig.Thing: event stream ended: the informer has stopped: broken"},
		"the informer, before": {func(t *testing.T, r *rig.Rig) error {
			r.Start()
			r.Stop()
			synctest.Wait()
			return endOf(r.Events(t.Context()))
		}, []error{typed.ErrStopped}, "informer *rig.Thing: event stream ended: the informer has stopped"},
		"the source, before": {func(t *testing.T, r *rig.Rig) error {
			r.Start()
			r.Script.Fail <- broken
			synctest.Wait()
			return endOf(r.Events(t.Context()))
		}, []error{typed.ErrStopped, broken}, "informer *rig.Thing: event stream ended: the informer has stopped: broken"},
		"released, before": {func(t *testing.T, r *rig.Rig) error {
			require.NoError(t, r.Release())
			return endOf(r.Events(t.Context()))
		}, []error{index.ErrReleased}, "informer *rig.Thing: " + index.ErrReleased.Error()},
		"an option": {func(t *testing.T, r *rig.Rig) error {
			return endOf(r.Events(t.Context(), typed.WithResync(-time.Second)))
		}, nil, "informer *rig.Thing: handler events not added: the resync period -1s is negative"},
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				err := test.end(t, rig.New(t))
				require.EqualError(t, err, test.text)
				for _, is := range test.is {
					assert.ErrorIs(t, err, is)
				}
			})
		})
	}
}

// TestEventsOfALeftLoop have no error, even after a loop that had one.
func TestEventsOfALeftLoop(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		r.Start()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		waiting := r.Events(ctx)
		assert.NoError(t, waiting.Err(), "nobody has ranged over it")
		assert.ErrorIs(t, endOf(waiting), context.DeadlineExceeded)

		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		ctx, cancel = context.WithCancel(t.Context())
		defer cancel()
		events := r.Events(ctx)
		for range events.All() {
			break
		}
		assert.NoError(t, events.Err())
		for range events.All() {
			cancel()
			break
		}
		assert.NoError(t, events.Err(), "the loop was left, though its context has ended, too")
		assert.ErrorIs(t, endOf(events), context.Canceled)
	})
}

// TestEventsOfASharedInformerReturnTheCauseOfTheirEnd: also that they end with its release.
func TestEventsOfASharedInformerReturnTheCauseOfTheirEnd(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := newShop(t)
		kept, released := f.share("x"), f.share("x")
		go func() {
			time.Sleep(time.Second)
			released.Release()
		}()
		events := released.Events(t.Context())
		assert.ErrorIs(t, endOf(events), index.ErrReleased)
		assert.ErrorIs(t, endOf(events), index.ErrReleased, "and afterwards")
		assert.NotErrorIs(t, events.Err(), typed.ErrStopped, "the informer goes on")

		go func() {
			time.Sleep(time.Second)
			kept.Release()
		}()
		assert.ErrorIs(t, endOf(kept.Events(t.Context())), index.ErrReleased)
	})
}
