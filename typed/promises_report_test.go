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

	"github.com/kubetyped/informer/typed"
)

// The tests of this file are the promises 10 to 14 of Informer.

func TestTransformOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		transformed := map[*thing]int{}
		r := newRig(t, typed.WithTransform(func(o *thing) (*thing, error) {
			if o.name == "bad" {
				return nil, errors.New("cannot be read")
			}
			transformed[o]++
			c := *o
			c.node = "transformed"
			return &c, nil
		}))
		rec := r.handle(typed.WithResync(time.Minute))
		r.run()
		received := []*thing{at("a", 1), at("b", 2), at("a", 3), at("b", 4), at("c", 5), at("a", 6)}
		r.sink.Replace([]*thing{received[0], received[1], at("bad", 1)}, "2")
		r.sink.Update(received[2], "3")
		r.sink.Update(at("bad", 4), "4")
		r.sink.Delete(received[3], "4")
		r.sink.Add(received[4], "5")
		time.Sleep(90 * time.Second) // a resync transforms nothing
		r.sink.Replace([]*thing{received[5]}, "6")
		rec.next()
		for _, o := range received {
			assert.Equal(t, 1, transformed[o], o)
		}
		assert.Len(t, transformed, len(received))
		for o := range r.All() {
			assert.Equal(t, "transformed", o.node)
		}
		status := r.Status()
		assert.Equal(t, 2, status.Rejected)
		assert.ErrorContains(t, status.LastRejected, "cannot be read")
		assert.Equal(t, key("bad"), status.LastRejected.Key)
	})
}

func TestVersions(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		rec := r.handle()
		rec.before(func(string) {
			// The version read first is not ahead of the objects read after it.
			version, err := strconv.Atoi(r.ResourceVersion())
			assert.NoError(t, err)
			stored, _ := r.Get(key("a"))
			assert.GreaterOrEqual(t, stored.version, version-4)
		})
		r.run()
		assert.Empty(t, r.ResourceVersion())
		r.sink.Replace([]*thing{at("a", 1)}, "5")
		require.NoError(t, r.WaitForResourceVersion(t.Context(), "5"))

		done := make(chan error, 3)
		for _, version := range []string{"7", "9", "10"} {
			go func() { done <- r.WaitForResourceVersion(t.Context(), version) }()
		}
		synctest.Wait()
		assert.Empty(t, done)
		r.sink.Update(at("a", 7), "7")
		require.NoError(t, <-done)
		stored, _ := r.Get(key("a"))
		assert.Equal(t, 7, stored.version, "the wait ends when reads reflect it")
		synctest.Wait()
		assert.Empty(t, done, "9 and 10 are later than 7")
		r.sink.Bookmark("10")
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
	inBubble(t, func(t *testing.T) {
		r := newRig(t, typed.WithName("things"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := r.WaitForSync(ctx)
		assert.ErrorIs(t, err, typed.ErrNotStarted)
		assert.ErrorIs(t, err, context.DeadlineExceeded)

		r.run()
		refused := errors.New("connection refused")
		began := time.Now()
		r.sink.Report(errors.New("an earlier one"))
		time.Sleep(time.Second)
		r.sink.Report(refused)
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
		assert.Equal(t, typed.PhaseSyncing, status.Phase)
		assert.Equal(t, refused, status.Err)
		assert.Equal(t, 2, status.Failures)
		rec := r.handle(typed.WithHandlerName("slow"), typed.WithDelivery(typed.Coalesce()))
		hold := make(chan struct{})
		rec.before(func(string) { <-hold })
		r.sink.Replace([]*thing{at("a", 1), at("b", 2), nil}, "3")
		synctest.Wait()
		status = r.Status()
		assert.Equal(t, typed.PhaseSynced, status.Phase)
		assert.NoError(t, status.Err, "a list has arrived")
		assert.Zero(t, status.Failures)
		assert.Equal(t, refused, status.LastErr)
		assert.Equal(t, 2, status.Objects)
		assert.Equal(t, 1, status.Rejected, "it was nil")
		assert.Equal(t, "3", status.ResourceVersion)
		assert.Equal(t, time.Now(), status.LastEvent.In(time.Local))
		assert.Equal(t, []typed.HandlerStatus{{Name: "slow", Delivery: typed.Coalesce(), Backlog: 2}}, status.Handlers)
		close(hold)
		rec.next()
		assert.True(t, r.Status().Handlers[0].Synced)
	})
}

func TestPanics(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers }()
	utilruntime.ReallyCrash = false
	var reported []any
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, p any) { reported = append(reported, p) }}

	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		rec := r.handle()
		rec.before(func(call string) {
			if call == "update a@1 a@2" || call == "initial a@1" {
				panic(call)
			}
		})
		r.run()
		r.sink.Replace([]*thing{at("a", 1)}, "1")
		r.sink.Update(at("a", 2), "2")
		r.sink.Update(at("a", 3), "3")
		assert.Equal(t, []string{"update a@2 a@3"}, rec.next(), "the next event is delivered")
		assert.Equal(t, []any{"initial a@1", "update a@1 a@2"}, reported)
		assert.True(t, isClosed(rec.Synced()))
		assert.Zero(t, rec.Backlog())
	})
}

func TestResync(t *testing.T) {
	for _, delivery := range []typed.Delivery{typed.EveryEvent(), typed.Coalesce()} {
		t.Run(delivery.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := newRig(t)
				minute := r.handle(typed.WithResync(time.Minute), typed.WithDelivery(delivery))
				hour := r.handle(typed.WithResync(time.Hour), typed.WithDelivery(delivery))
				never := r.handle(typed.WithDelivery(delivery))
				r.run()
				r.sink.Replace([]*thing{at("a", 1), at("b", 2)}, "2")
				for _, rec := range []*recorder{minute, hour, never} {
					rec.next()
				}
				time.Sleep(61 * time.Second)
				assert.ElementsMatch(t, []string{"resync a@1", "resync b@2"}, minute.next())
				r.sink.Update(at("a", 3), "3")
				assert.Equal(t, []string{"update a@1 a@3"}, minute.next())
				time.Sleep(time.Hour - 2*time.Minute)
				assert.Len(t, minute.next(), 58*2, "once a minute")
				assert.Equal(t, []string{"update a@1 a@3"}, hour.next())
				time.Sleep(2 * time.Minute)
				assert.ElementsMatch(t, []string{"resync a@3", "resync b@2"}, hour.next())
				assert.Equal(t, []string{"update a@1 a@3"}, never.next())
				r.sink.Resync()
				assert.ElementsMatch(t, []string{"resync a@3", "resync b@2"}, never.next(), "asked for by the source")
			})
		})
	}
	t.Run("on demand", func(t *testing.T) {
		for delivery, twice := range map[typed.Delivery][]string{
			typed.EveryEvent(): {"update a@1 a@2", "resync a@2", "resync a@2", "update a@2 a@3"},
			typed.Coalesce():   {"update a@1 a@2", "update a@2 a@3"},
		} {
			inBubble(t, func(t *testing.T) {
				r := newRig(t)
				rec, other := r.handle(typed.WithDelivery(delivery)), r.handle()
				rec.Resync()
				r.run()
				r.sink.Replace([]*thing{at("a", 1)}, "1")
				rec.next()
				other.next()
				hold := make(chan struct{})
				rec.before(func(string) { <-hold })
				r.sink.Update(at("a", 2), "2")
				synctest.Wait()
				rec.Resync()
				rec.Resync()
				r.sink.Update(at("a", 3), "3")
				synctest.Wait()
				close(hold)
				assert.Equal(t, twice, rec.next(), "after what was there, before what comes")
				assert.Equal(t, []string{"update a@1 a@2", "update a@2 a@3"}, other.next(), "to nobody else")
			})
		}
	})
	t.Run("in order", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			r := newRig(t)
			rec := r.handle(typed.WithResync(time.Minute))
			rec.before(func(call string) { // it is behind when the resync is due
				if call == "update a@1 a@2" {
					time.Sleep(2 * time.Minute)
				}
			})
			r.run()
			r.sink.Replace([]*thing{at("a", 1)}, "1")
			r.sink.Update(at("a", 2), "2")
			synctest.Wait()
			r.sink.Update(at("a", 3), "3")
			time.Sleep(150 * time.Second)
			assert.Equal(t, []string{"initial a@1", "update a@1 a@2", "update a@2 a@3", "resync a@3"}, rec.next())
		})
	})
}
