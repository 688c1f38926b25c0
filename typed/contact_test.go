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
	"github.com/kubetyped/informer/typed/observe"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// TestStatusReportsTheAgeOfReads lets a minute pass between reports.
func TestStatusReportsTheAgeOfReads(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		assert.Zero(t, r.Status().LastContact)
		r.Start()
		report := func(f func()) time.Time {
			time.Sleep(time.Minute)
			f()
			synctest.Wait()
			return time.Now()
		}
		at := report(func() { sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1") })
		assert.True(t, at.Equal(r.Status().LastContact))
		assert.Zero(t, r.Status().Relists, "it is the first list")
		assert.Zero(t, r.Status().Watches)

		watching := report(func() { r.Sink.Report(nil) })
		assert.Equal(t, watching, r.Status().LastContact)
		assert.Equal(t, watching, r.Status().WatchSince)
		assert.Equal(t, 1, r.Status().Watches)

		changed := report(func() { sinktest.Put(r.Sink, rig.At("a", 2), "2") })
		at = report(func() { sinktest.Bookmark(r.Sink, "3") })
		assert.True(t, at.Equal(r.Status().LastContact), "by a bookmark")
		assert.True(t, changed.Equal(r.Status().LastEvent))
		assert.Equal(t, watching, r.Status().WatchSince)

		report(func() { r.Sink.Report(errors.New("broken")) })
		assert.True(t, at.Equal(r.Status().LastContact), "a failure is no contact")
		assert.Zero(t, r.Status().WatchSince)
		report(func() { sinktest.Replace(r.Sink, "", nil, "4") })
		watching = report(func() { r.Sink.Report(nil) })
		assert.Equal(t, watching, r.Status().WatchSince)
		assert.Equal(t, 2, r.Status().Watches)
		assert.Equal(t, 1, r.Status().Relists)
	})
}

// TestOnErrorEndsRun: the function of WithOnError takes one error for final.
func TestOnErrorEndsRun(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		broken, forbidden := errors.New("broken"), errors.New("forbidden")
		var seen []error
		r := rig.New(t, typed.WithOnError(func(err error) error {
			seen = append(seen, err)
			if errors.Is(err, forbidden) {
				return err
			}
			return nil
		}))
		r.Start()
		sinktest.Replace(r.Sink, "", nil, "1")
		r.Sink.Report(broken)
		r.Sink.Report(nil)
		r.Sink.Report(&source.RejectedError{Informer: "x", Key: index.Key{Name: "a"}, Err: broken})
		synctest.Wait()
		assert.Equal(t, report.PhaseSynced, r.Phase())
		r.Sink.Report(forbidden)
		err := <-r.Ended
		assert.ErrorIs(t, err, forbidden)
		assert.ErrorContains(t, err, "informer ")
		assert.Equal(t, []error{broken, forbidden}, seen, "rejected objects are no errors of the source")
		assert.ErrorIs(t, r.WaitForSync(t.Context()), forbidden)
		r.Ended <- err
	})
}

// TestWaitForAVersionReturnsTheFailure fails while the source does.
func TestWaitForAVersionReturnsTheFailure(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", nil, "1")
		broken := errors.New("broken")
		r.Sink.Report(broken)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := r.WaitForResourceVersion(ctx, "7")
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorIs(t, err, broken)
		assert.ErrorContains(t, err, `waited for resource version 7, is at "1"`)
		assert.ErrorContains(t, err, "(1×), lately with: broken")
	})
}

// TestOnErrorAfterTheEnd: stopping an informer is no error, even if the function of WithOnError
// takes everything for final.
func TestOnErrorAfterTheEnd(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, typed.WithOnError(func(err error) error { return err }))
		r.Start()
		sinktest.Replace(r.Sink, "", nil, "1")
		synctest.Wait()
		r.Stop()
		r.Sink.Report(context.Canceled)
		err := <-r.Ended
		assert.NoError(t, err)
		r.Ended <- err
	})
}

// TestOnErrorThenTheEnd keeps the error that came first.
func TestOnErrorThenTheEnd(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, typed.WithOnError(func(err error) error { return err }))
		r.Start()
		broken := errors.New("broken")
		r.Sink.Report(broken)
		r.Stop()
		err := <-r.Ended
		assert.ErrorIs(t, err, broken)
		r.Ended <- err
	})
}

// TestWaitForAVersionOfAWithheldList: the error contains the reason, and no count of failures, as
// there are none.
func TestWaitForAVersionOfAWithheldList(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{{Namespace: "ns"}}, "1")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := r.WaitForResourceVersion(ctx, "7")
		assert.ErrorContains(t, err, "all 1 objects of the first list were rejected")
		assert.NotContains(t, err.Error(), "(0×)")
	})
}

// TestStatusBesideRelease asks a store that is released at the same time.
func TestStatusBesideRelease(t *testing.T) {
	for range 2000 {
		informer := typed.NewInformer(rig.NewScript())
		released := make(chan error, 1)
		go func() { released <- informer.Release() }()
		assert.Zero(t, informer.Status().Objects)
		require.NoError(t, <-released)
		assert.Zero(t, informer.Status().Objects)
	}
}

// TestMetricsOfAFactoryHaveNames asks for metrics for each informer.
func TestMetricsOfAFactoryHaveNames(t *testing.T) {
	var names []string
	f := typed.NewFactory(observe.WithMetricsFor(func(informer string, _ source.Origin) observe.Metrics {
		names = append(names, informer)
		return nil
	}))
	defer f.Shutdown()
	for _, key := range []string{"one", "two"} {
		shared, err := typed.Share(f, key, func() source.Source[*rig.Thing] { return rig.NewScript() })
		require.NoError(t, err)
		defer shared.Release()
	}
	assert.Equal(t, []string{"*rig.Thing one", "*rig.Thing two"}, names)
}
