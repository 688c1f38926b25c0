package typed_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/report"
)

// The tests of this file are the promises 10 to 14 of Informer.

func TestTransformOnce(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		transformed := map[*rig.Thing]int{}
		r := rig.New(t, typed.WithTransform(func(o *rig.Thing) (*rig.Thing, error) {
			if o.Name == "bad" {
				return nil, errors.New("cannot be read")
			}
			transformed[o]++
			c := *o
			c.Node = "transformed"
			return &c, nil
		}))
		rec := r.Record(typed.WithResync(time.Minute))
		r.Start()
		received := []*rig.Thing{rig.At("a", 1), rig.At("b", 2), rig.At("a", 3), rig.At("b", 4), rig.At("c", 5), rig.At("a", 6)}
		sinktest.Replace(r.Sink, "", []*rig.Thing{received[0], received[1], rig.At("bad", 1)}, "2")
		sinktest.Put(r.Sink, received[2], "3")
		sinktest.Put(r.Sink, rig.At("bad", 4), "4")
		sinktest.Delete(r.Sink, received[3], "4")
		sinktest.Put(r.Sink, received[4], "5")
		time.Sleep(90 * time.Second) // a resync transforms nothing
		sinktest.Replace(r.Sink, "", []*rig.Thing{received[5]}, "6")
		rec.Next()
		for _, o := range received {
			assert.Equal(t, 1, transformed[o], o)
		}
		assert.Len(t, transformed, len(received))
		for o := range r.All() {
			assert.Equal(t, "transformed", o.Node)
		}
		status := r.Status()
		assert.Equal(t, 2, status.Rejected)
		assert.ErrorContains(t, status.LastRejected, "cannot be read")
		assert.Equal(t, rig.Key("bad"), status.LastRejected.Key)
	})
}

func TestVersions(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		rec := r.Record()
		rec.Before(func(string) {
			// The version read first is not ahead of the objects read after it.
			version, err := strconv.Atoi(r.ResourceVersion())
			assert.NoError(t, err)
			stored, _ := r.Get(rig.Key("a"))
			assert.GreaterOrEqual(t, stored.Version, version-4)
		})
		r.Start()
		assert.Empty(t, r.ResourceVersion())
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "5")
		require.NoError(t, r.WaitForResourceVersion(t.Context(), "5"))

		done := make(chan error, 3)
		for _, version := range []string{"7", "9", "10"} {
			go func() { done <- r.WaitForResourceVersion(t.Context(), version) }()
		}
		synctest.Wait()
		assert.Empty(t, done)
		sinktest.Put(r.Sink, rig.At("a", 7), "7")
		require.NoError(t, <-done)
		stored, _ := r.Get(rig.Key("a"))
		assert.Equal(t, 7, stored.Version, "the wait ends when reads reflect it")
		synctest.Wait()
		assert.Empty(t, done, "9 and 10 are later than 7")
		sinktest.Bookmark(r.Sink, "10")
		require.NoError(t, <-done)
		require.NoError(t, <-done)
		assert.Equal(t, "10", r.ResourceVersion())

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := r.WaitForResourceVersion(ctx, "11")
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, `waited for resource version 11, is at "10"`)
		assert.ErrorContains(t, r.WaitForResourceVersion(t.Context(), "eleven"), "not a positive number")
	})
}

func TestErrors(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, typed.WithName("things"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := r.WaitForSync(ctx)
		assert.ErrorIs(t, err, typed.ErrNotStarted)
		assert.ErrorIs(t, err, context.DeadlineExceeded)

		r.Start()
		refused := errors.New("connection refused")
		began := time.Now()
		r.Sink.Report(errors.New("an earlier one"))
		time.Sleep(time.Second)
		r.Sink.Report(refused)
		ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err = r.WaitForSync(ctx)
		var syncErr *typed.SyncError
		require.ErrorAs(t, err, &syncErr)
		assert.ErrorIs(t, err, refused)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 2, syncErr.Failures)
		assert.Equal(t, began, syncErr.Since)
		assert.Equal(t, "things", syncErr.Informer)
		assert.ErrorContains(t, err, "informer things is not synced: context deadline exceeded; list or watch fails since ")
		assert.ErrorContains(t, err, "connection refused")

		status := r.Status()
		assert.Equal(t, report.PhaseSyncing, status.Phase)
		assert.Equal(t, refused, status.Err)
		assert.Equal(t, 2, status.Failures)
		rec := r.Record(typed.WithHandlerName("slow"), typed.WithDelivery(typed.Coalesce()))
		hold := make(chan struct{})
		rec.Before(func(string) { <-hold })
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 2), nil}, "3")
		synctest.Wait()
		status = r.Status()
		assert.Equal(t, report.PhaseSynced, status.Phase)
		assert.NoError(t, status.Err, "a list has arrived")
		assert.Zero(t, status.Failures)
		assert.Equal(t, refused, status.LastErr)
		assert.Equal(t, 2, status.Objects)
		assert.Equal(t, 1, status.Rejected, "it was nil")
		assert.Equal(t, "3", status.ResourceVersion)
		assert.Equal(t, time.Now(), status.LastEvent.In(time.Local))
		assert.Equal(t, []report.Handler{{Name: "slow", Number: 1, Delivery: typed.Coalesce().String(), Backlog: 2}}, status.Handlers)
		close(hold)
		rec.Next()
		assert.True(t, r.Status().Handlers[0].Synced)
	})
}

func TestPanics(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers }()
	utilruntime.ReallyCrash = false
	var reported []any
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, p any) { reported = append(reported, p) }}

	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		rec := r.Record()
		rec.Before(func(call string) {
			if call == "update a@1 a@2" || call == "initial a@1" {
				panic(call)
			}
		})
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		sinktest.Put(r.Sink, rig.At("a", 2), "2")
		sinktest.Put(r.Sink, rig.At("a", 3), "3")
		assert.Equal(t, []string{"update a@2 a@3"}, rec.Next(), "the next event is delivered")
		assert.Equal(t, []any{"initial a@1", "update a@1 a@2"}, reported)
		assert.True(t, rig.IsClosed(rec.Synced()))
		assert.Zero(t, rec.Backlog())
	})
}

func TestResync(t *testing.T) {
	for _, delivery := range []typed.Delivery{typed.EveryEvent(), typed.Coalesce()} {
		t.Run(delivery.String(), func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				r := rig.New(t)
				minute := r.Record(typed.WithResync(time.Minute), typed.WithDelivery(delivery))
				hour := r.Record(typed.WithResync(time.Hour), typed.WithDelivery(delivery))
				never := r.Record(typed.WithDelivery(delivery))
				r.Start()
				sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 2)}, "2")
				for _, rec := range []*rig.Recorder{minute, hour, never} {
					rec.Next()
				}
				time.Sleep(61 * time.Second)
				assert.ElementsMatch(t, []string{"resync a@1", "resync b@2"}, minute.Next())
				sinktest.Put(r.Sink, rig.At("a", 3), "3")
				assert.Equal(t, []string{"update a@1 a@3"}, minute.Next())
				time.Sleep(time.Hour - 2*time.Minute)
				assert.Len(t, minute.Next(), 58*2, "once a minute")
				assert.Equal(t, []string{"update a@1 a@3"}, hour.Next())
				time.Sleep(2 * time.Minute)
				assert.ElementsMatch(t, []string{"resync a@3", "resync b@2"}, hour.Next())
				assert.Equal(t, []string{"update a@1 a@3"}, never.Next())
			})
		})
	}
	t.Run("on demand", func(t *testing.T) {
		for delivery, once := range map[typed.Delivery][]string{
			typed.EveryEvent(): {"update a@1 a@2", "resync a@2", "update a@2 a@3"},
			typed.Coalesce():   {"update a@1 a@2", "update a@2 a@3"},
		} {
			rig.InBubble(t, func(t *testing.T) {
				r := rig.New(t)
				rec, other := r.Record(typed.WithDelivery(delivery)), r.Record()
				rec.Resync()
				r.Start()
				sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
				rec.Next()
				other.Next()
				hold := make(chan struct{})
				rec.Before(func(string) { <-hold })
				sinktest.Put(r.Sink, rig.At("a", 2), "2")
				synctest.Wait()
				rec.Resync()
				rec.Resync()
				sinktest.Put(r.Sink, rig.At("a", 3), "3")
				synctest.Wait()
				close(hold)
				assert.Equal(t, once, rec.Next(), "after what was there, before what comes")
				assert.Equal(t, []string{"update a@1 a@2", "update a@2 a@3"}, other.Next(), "to nobody else")
			})
		}
	})
	t.Run("on demand at the same instants", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r := rig.New(t)
			rec := r.Record(typed.WithResync(time.Minute))
			r.Start()
			sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
			for range 20 {
				time.Sleep(time.Minute)
				rec.Resync()
				rec.Next()
			}
			time.Sleep(5*time.Minute + time.Second)
			assert.Len(t, rec.Next(), 5, "those at a period go on")
		})
	})
	t.Run("in order", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r := rig.New(t)
			rec := r.Record(typed.WithResync(time.Minute))
			rec.Before(func(call string) { // it is behind when the resync is due
				if call == "update a@1 a@2" {
					time.Sleep(2 * time.Minute)
				}
			})
			r.Start()
			sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
			sinktest.Put(r.Sink, rig.At("a", 2), "2")
			synctest.Wait()
			sinktest.Put(r.Sink, rig.At("a", 3), "3")
			time.Sleep(150 * time.Second)
			assert.Equal(t, []string{"initial a@1", "update a@1 a@2", "update a@2 a@3", "resync a@3"}, rec.Next())
		})
	})
}
