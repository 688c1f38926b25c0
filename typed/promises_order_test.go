package typed_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// The tests of this file are the promises 1 to 5 of Informer.

func TestOrder(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t)
		one, two := r.handle(), r.handle()
		gate := make(chan struct{})
		two.before(func(string) { <-gate }) // a slow handler
		r.run()
		r.sink.Replace([]*thing{at("a", 1), at("b", 2)}, "2")
		want := []string{"initial a@1", "initial b@2"}
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
