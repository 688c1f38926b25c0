package typed_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// The tests of this file are the promises of Informer, by their names and in
// their order.

func TestOrder(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		one, two := r.handle(), r.handle()
		gate := make(chan struct{})
		two.before(func(string) { <-gate }) // a slow handler
		r.run()
		r.sink.Replace([]*thing{at("a", 1), at("b", 2)}, "2")
		var want []string
		for _, name := range []string{"a", "b"} {
			want = append(want, fmt.Sprint("initial ", r.at(name)))
		}
		for v := 3; v < 2000; v += 2 {
			r.sink.Update(at("a", v), fmt.Sprint(v))
			r.sink.Update(at("b", v+1), fmt.Sprint(v+1))
			want = append(want, fmt.Sprintf("update a@%d a@%d", max(1, v-2), v), fmt.Sprintf("update b@%d b@%d", v-1, v+1))
		}
		r.sink.Delete(at("a", 2001), "2001")
		r.sink.Add(at("a", 2002), "2002")
		want = append(want, "delete a@2001 Watched", "add a@2002")

		assert.Equal(t, want, one.next(), "a handler that keeps up")
		assert.Empty(t, two.all(), "a handler that waits holds up nobody")
		close(gate)
		assert.Equal(t, want, two.next(), "the same order for the slow one")
	})
}

// at returns the thing as the first list of TestOrder has it.
func (r *rig) at(name string) *thing { return at(name, map[string]int{"a": 1, "b": 2}[name]) }

func TestStoreFirst(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		byNode := index.Single("node", func(o *thing) (string, bool) { return o.node, true })
		require.NoError(t, r.AddIndexes(byNode))
		calls := 0
		check := func(o *thing) {
			calls++
			s := r.Snapshot()
			stored, ok := s.Get(index.KeyOf(o))
			if assert.True(t, ok) {
				assert.GreaterOrEqual(t, stored.version, o.version)
				assert.Contains(t, byNode.In(s).Get(stored.node), stored, "index and store agree")
			}
		}
		_, err := r.Handle(typed.HandlerFuncs[*thing]{
			AddFunc:    func(o *thing, _ bool) { check(o) },
			UpdateFunc: func(_, o *thing) { check(o) },
			DeleteFunc: func(d typed.Deleted[*thing]) {
				calls++
				_, ok := r.Get(d.Key)
				assert.False(t, ok, "it is gone")
				assert.Empty(t, slices.Collect(byNode.Keys()), "also from the index")
			},
		})
		require.NoError(t, err)
		r.run()
		r.sink.Replace([]*thing{at("a", 1)}, "1")
		for v := 2; v < 500; v++ {
			r.sink.Update(at("a", v), fmt.Sprint(v))
		}
		synctest.Wait()
		r.sink.Delete(at("a", 500), "500")
		synctest.Wait()
		assert.Equal(t, 500, calls)
	})
}

func TestEveryChange(t *testing.T) {
	// Every handler is held in its first call while changes pile up.
	changes := func(r *rig) {
		r.sink.Update(at("a", 3), "3")
		r.sink.Update(at("a", 4), "4")
		r.sink.Add(at("c", 5), "5")
		r.sink.Update(at("c", 6), "6")
		r.sink.Add(at("d", 7), "7")
		r.sink.Delete(at("d", 8), "8")
		r.sink.Delete(at("b", 9), "9")
		r.sink.Add(at("b", 10), "10")
		r.sink.Delete(at("a", 11), "11")
	}
	run := func(t *testing.T, opts ...typed.HandlerOption) (calls []string, applied int) {
		inBubble(t, func(t *testing.T) {
			r := newRig(t)
			rec := r.handle(opts...)
			gate := make(chan struct{})
			rec.before(func(call string) {
				if call == "initial x@1" {
					<-gate
				}
			})
			r.run()
			r.sink.Replace([]*thing{at("a", 1), at("b", 2)}, "2")
			synctest.Wait()
			r.sink.Add(at("x", 1), "")
			rec.before(nil)
			rec.next()
			hold := make(chan struct{})
			rec.before(func(call string) {
				if call == "update x@1 x@2" {
					<-hold
				}
			})
			r.sink.Update(at("x", 2), "2")
			synctest.Wait()
			go changes(r) // a source that may have to wait
			synctest.Wait()
			applied = r.Len()
			close(hold)
			calls = rec.next()
		})
		return calls, applied
	}

	every := []string{
		"update x@1 x@2", "update a@1 a@3", "update a@3 a@4", "add c@5", "update c@5 c@6", "add d@7",
		"delete d@8 Watched", "delete b@9 Watched", "add b@10", "delete a@11 Watched",
	}
	t.Run("every event", func(t *testing.T) {
		calls, applied := run(t)
		assert.Equal(t, every, calls)
		assert.Equal(t, 3, applied, "the store does not wait")
	})
	t.Run("coalesce", func(t *testing.T) {
		calls, applied := run(t, typed.WithDelivery(typed.Coalesce()))
		assert.Equal(t, []string{"update x@1 x@2", "delete a@11 Watched", "add c@6", "update b@2 b@10"}, calls)
		assert.Equal(t, 3, applied, "the store does not wait")
	})
	t.Run("block", func(t *testing.T) {
		calls, applied := run(t, typed.WithDelivery(typed.Block(1)))
		assert.Equal(t, every, calls)
		assert.Equal(t, 3, applied, "a, b and x: nothing is taken in while the handler is behind")
	})
}

func TestInitialList(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		rec := r.handle()
		hold := make(chan struct{})
		rec.before(func(call string) {
			if call == "initial b@2" {
				<-hold
			}
		})
		r.run()
		synctest.Wait()
		assert.False(t, isClosed(r.Synced()))
		r.sink.Replace([]*thing{at("a", 1), at("b", 2)}, "2")
		r.sink.Add(at("c", 3), "3")
		synctest.Wait()
		assert.True(t, isClosed(r.Synced()), "the store has the list")
		assert.False(t, isClosed(rec.Synced()), "the handler has not returned")
		assert.NoError(t, r.WaitForSync(t.Context()))
		close(hold)
		assert.Equal(t, []string{"initial a@1", "initial b@2", "add c@3"}, rec.next())
		assert.True(t, isClosed(rec.Synced()))
		assert.NoError(t, rec.WaitForSync(t.Context()))
	})
	t.Run("empty", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			r := newRig(t)
			every, coalescing := r.handle(), r.handle(typed.WithDelivery(typed.Coalesce()))
			r.run()
			r.sink.Replace(nil, "1")
			synctest.Wait()
			assert.True(t, isClosed(r.Synced()) && isClosed(every.Synced()) && isClosed(coalescing.Synced()))
		})
	})
}

func TestLateHandlers(t *testing.T) {
	for _, delivery := range []typed.Delivery{typed.EveryEvent(), typed.Coalesce(), typed.Block(3)} {
		t.Run(delivery.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := newRig(t)
				r.run()
				r.sink.Replace([]*thing{at("a", 1), at("b", 2)}, "2")
				r.sink.Update(at("a", 3), "3")
				synctest.Wait()

				rec := &recorder{}
				hold := make(chan struct{})
				rec.before(func(string) { <-hold })
				reg, err := r.Handle(rec, typed.WithDelivery(delivery))
				require.NoError(t, err)
				r.sink.Update(at("b", 4), "4")
				r.sink.Delete(at("a", 5), "5")
				synctest.Wait()
				assert.False(t, isClosed(reg.Synced()))
				close(hold)
				calls := rec.next()
				require.Len(t, calls, 4)
				assert.ElementsMatch(t, []string{"initial a@3", "initial b@2"}, calls[:2])
				assert.Equal(t, []string{"update b@2 b@4", "delete a@5 Watched"}, calls[2:])
				assert.True(t, isClosed(reg.Synced()))
			})
		})
	}
}

func TestRelist(t *testing.T) {
	relist := func(t *testing.T, want []string, list []*thing, opts ...typed.Option) {
		inBubble(t, func(t *testing.T) {
			r := newRig(t, opts...)
			rec := r.handle()
			r.run()
			r.sink.Replace([]*thing{at("a", 1), at("b", 2), at("c", 3)}, "3")
			rec.next()
			r.sink.Replace(list, "9")
			assert.Equal(t, want, rec.next())
			assert.Equal(t, "9", r.ResourceVersion())
			assert.Equal(t, len(list), r.Len())
		})
	}
	other := at("b", 5)
	other.uid = "another"
	list := func() []*thing { return []*thing{at("a", 1), other, at("d", 4)} }
	t.Run("default", func(t *testing.T) {
		relist(t, []string{"delete c@3 Relisted", "update a@1 a@1", "update b@2 b@5", "add d@4"}, list())
	})
	t.Run("changed only", func(t *testing.T) {
		relist(t, []string{"delete c@3 Relisted", "update b@2 b@5", "add d@4"}, list(), typed.WithChangedOnly())
	})
	t.Run("recreation", func(t *testing.T) {
		relist(t, []string{"delete c@3 Relisted", "update a@1 a@1", "delete b@2 Recreated", "add b@5", "add d@4"}, list(), typed.WithRecreation())
	})
}

func TestRemoval(t *testing.T) {
	t.Run("waits for the call", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			r := newRig(t)
			rec := r.handle()
			hold := make(chan struct{})
			rec.before(func(string) { <-hold })
			r.run()
			r.sink.Replace([]*thing{at("a", 1), at("b", 2)}, "2")
			synctest.Wait()
			closed := make(chan struct{})
			go func() { rec.Close(); close(closed) }()
			synctest.Wait()
			assert.False(t, isClosed(closed), "the handler is running")
			close(hold)
			synctest.Wait()
			assert.True(t, isClosed(closed))
			r.sink.Update(at("a", 3), "3")
			assert.Equal(t, []string{"initial a@1"}, rec.next(), "it is not called again")
			assert.ErrorIs(t, rec.WaitForSync(t.Context()), typed.ErrClosed)
			rec.Close() // again
		})
	})
	t.Run("from the handler", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			r := newRig(t)
			rec := r.handle()
			rec.before(func(string) { rec.Close() })
			r.run()
			r.sink.Replace([]*thing{at("a", 1), at("b", 2)}, "2")
			assert.Equal(t, []string{"initial a@1"}, rec.next())
			assert.Empty(t, r.Status().Handlers)
		})
	})
	t.Run("of another handler, from a handler", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			r := newRig(t)
			other := r.handle()
			rec := r.handle()
			rec.before(func(string) { other.Close() })
			r.run()
			r.sink.Replace([]*thing{at("a", 1)}, "1")
			assert.Equal(t, []string{"initial a@1"}, rec.next())
			r.sink.Update(at("a", 2), "2")
			rec.next()
			assert.NotContains(t, other.all(), "update a@1 a@2")
		})
	})
	t.Run("before the informer runs", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			r := newRig(t)
			rec := r.handle()
			rec.Close()
			r.run()
			r.sink.Replace([]*thing{at("a", 1)}, "1")
			assert.Empty(t, rec.next())
		})
	})
}

func TestStop(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		byNode := index.Single("node", func(o *thing) (string, bool) { return o.node, true })
		require.NoError(t, r.AddIndexes(byNode))
		rec := r.handle()
		waits := make(chan error, 3)
		r.run()
		r.sink.Replace([]*thing{at("a", 1)}, "1")
		rec.next()
		slow := r.handle()
		hold := make(chan struct{})
		slow.before(func(string) { <-hold })
		go func() { waits <- r.WaitForResourceVersion(context.Background(), "7") }()
		go func() { waits <- slow.WaitForSync(context.Background()) }()
		go func() {
			for range r.Events(context.Background()) {
			}
			waits <- nil
		}()
		synctest.Wait()

		r.stop()
		synctest.Wait()
		select {
		case err := <-r.ended:
			t.Fatal("Run has returned while a handler is running", err)
		default:
		}
		close(hold)
		require.NoError(t, <-r.ended, "told to stop")
		r.ended <- nil
		// The bubble ends only when all goroutines have: none is left.
		for range 3 {
			if err := <-waits; err != nil {
				assert.ErrorIs(t, err, typed.ErrStopped)
			}
		}
		assert.Zero(t, r.Len())
		assert.Empty(t, byNode.Get("node-1"))
		assert.Equal(t, typed.PhaseStopped, r.Status().Phase)
		_, err := r.Handle(&recorder{})
		assert.ErrorIs(t, err, typed.ErrStopped)
		assert.ErrorIs(t, r.AddIndexes(index.New("late", func(o *thing) []string { return nil })), typed.ErrStopped)
		assert.ErrorIs(t, r.WaitForSync(t.Context()), typed.ErrStopped)
		assert.ErrorIs(t, r.Run(t.Context()), typed.ErrStarted)
	})
	t.Run("readable", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			r := newRig(t, typed.WithReadableAfterStop())
			r.run()
			r.sink.Replace([]*thing{at("a", 1)}, "1")
			synctest.Wait()
			r.stop()
			synctest.Wait()
			assert.Equal(t, 1, r.Len())
		})
	})
	t.Run("by the source", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			r := newRig(t)
			rec := r.handle()
			r.run()
			final := errors.New("no such resource")
			r.script.fail <- final
			err := <-r.ended
			r.ended <- nil
			assert.ErrorIs(t, err, final)
			assert.ErrorContains(t, err, "*typed_test.thing", "names the informer")
			assert.ErrorIs(t, r.WaitForSync(t.Context()), final)
			assert.ErrorIs(t, rec.WaitForSync(t.Context()), final, "a handler that never synced tells why")
		})
	})
	t.Run("source has nothing more to say", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			r := newRig(t)
			rec := r.handle()
			r.run()
			r.sink.Replace([]*thing{at("a", 1)}, "1")
			r.script.fail <- nil
			assert.Equal(t, []string{"initial a@1"}, rec.next())
			assert.Equal(t, 1, r.Len(), "the informer goes on")
		})
	})
}

func TestReaders(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		r.sink.Replace([]*thing{at("a", 1), at("b", 2), at("c", 3)}, "3")
		synctest.Wait()
		// The loop body lets the informer write, reads from it and changes its
		// handlers; the loop still sees the state in which it began.
		var seen []string
		for o := range r.All() {
			r.sink.Update(at("b", 10+o.version), fmt.Sprint(10+o.version))
			r.sink.Delete(at("c", 20+o.version), fmt.Sprint(20+o.version))
			require.NoError(t, r.WaitForResourceVersion(t.Context(), fmt.Sprint(20+o.version)))
			assert.Equal(t, 2, r.Len())
			assert.Len(t, r.List(), 2)
			r.handle().Close()
			seen = append(seen, o.String())
		}
		slices.Sort(seen)
		assert.Equal(t, []string{"a@1", "b@2", "c@3"}, seen)
	})
}

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
		assert.ErrorContains(t, err, "informer things is not synced: context deadline exceeded; list or watch has failed 2 times since ")
		assert.ErrorContains(t, err, "connection refused")

		status := r.Status()
		assert.Equal(t, typed.PhaseSyncing, status.Phase)
		assert.Equal(t, refused, status.Err)
		assert.Equal(t, 2, status.Failures)
		rec := r.handle(typed.WithHandlerName("slow"), typed.WithDelivery(typed.Coalesce()))
		hold := make(chan struct{})
		rec.before(func(string) { <-hold })
		r.sink.Replace([]*thing{at("a", 1), at("b", 2), {namespace: "ns", version: 3}, nil}, "3")
		synctest.Wait()
		status = r.Status()
		assert.Equal(t, typed.PhaseSynced, status.Phase)
		assert.NoError(t, status.Err, "a list has arrived")
		assert.Zero(t, status.Failures)
		assert.Equal(t, refused, status.LastErr)
		assert.Equal(t, 2, status.Objects)
		assert.Equal(t, 2, status.Rejected, "no name, and nil")
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
