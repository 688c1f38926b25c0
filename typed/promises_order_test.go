package typed_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
)

// The tests of this file are the promises 1 to 5 of Informer.

func TestOrder(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		one, two := r.Record(), r.Record()
		gate := make(chan struct{})
		two.Before(func(string) { <-gate }) // a slow handler
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 2)}, "2")
		want := []string{"initial a@1", "initial b@2"}
		for v := 3; v < 2000; v += 2 {
			sinktest.Put(r.Sink, rig.At("a", v), fmt.Sprint(v))
			sinktest.Put(r.Sink, rig.At("b", v+1), fmt.Sprint(v+1))
			want = append(want, fmt.Sprintf("update a@%d a@%d", max(1, v-2), v), fmt.Sprintf("update b@%d b@%d", v-1, v+1))
		}
		sinktest.Delete(r.Sink, rig.At("a", 2001), "2001")
		sinktest.Put(r.Sink, rig.At("a", 2002), "2002")
		want = append(want, "delete a@2001 Watched", "add a@2002")

		assert.Equal(t, want, one.Next(), "a handler that keeps up")
		assert.Empty(t, two.All(), "a handler that waits holds up nobody")
		close(gate)
		assert.Equal(t, want, two.Next(), "the same order for the slow one")
	})
}

func TestStoreFirst(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		byNode := index.Single("node", func(o *rig.Thing) (string, bool) { return o.Node, true })
		require.NoError(t, r.AddIndexes(byNode))
		calls := 0
		check := func(o *rig.Thing) {
			calls++
			s := r.Snapshot()
			stored, ok := s.Get(index.KeyOf(o))
			if assert.True(t, ok) {
				assert.GreaterOrEqual(t, stored.Version, o.Version)
				assert.Contains(t, byNode.In(s).Get(stored.Node), stored, "index and store agree")
			}
		}
		_, err := r.Handle(typed.HandlerFuncs[*rig.Thing]{
			AddFunc:    func(o *rig.Thing, _ bool) { check(o) },
			UpdateFunc: func(_, o *rig.Thing) { check(o) },
			DeleteFunc: func(d typed.Deleted[*rig.Thing]) {
				calls++
				_, ok := r.Get(d.Key)
				assert.False(t, ok, "it is gone")
				assert.Empty(t, slices.Collect(byNode.Keys()), "also from the index")
			},
		})
		require.NoError(t, err)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		for v := 2; v < 500; v++ {
			sinktest.Put(r.Sink, rig.At("a", v), fmt.Sprint(v))
		}
		synctest.Wait()
		sinktest.Delete(r.Sink, rig.At("a", 500), "500")
		synctest.Wait()
		assert.Equal(t, 500, calls)
	})
}

func TestEveryChange(t *testing.T) {
	// Every handler is held in its first call while changes pile up.
	changes := func(r *rig.Rig) {
		sinktest.Put(r.Sink, rig.At("a", 3), "3")
		sinktest.Put(r.Sink, rig.At("a", 4), "4")
		sinktest.Put(r.Sink, rig.At("c", 5), "5")
		sinktest.Put(r.Sink, rig.At("c", 6), "6")
		sinktest.Put(r.Sink, rig.At("d", 7), "7")
		sinktest.Delete(r.Sink, rig.At("d", 8), "8")
		sinktest.Delete(r.Sink, rig.At("b", 9), "9")
		sinktest.Put(r.Sink, rig.At("b", 10), "10")
		sinktest.Delete(r.Sink, rig.At("a", 11), "11")
	}
	run := func(t *testing.T, opts ...typed.HandlerOption) (calls []string, applied int) {
		rig.InBubble(t, func(t *testing.T) {
			r := rig.New(t)
			rec := r.Record(opts...)
			gate := make(chan struct{})
			rec.Before(func(call string) {
				if call == "initial x@1" {
					<-gate
				}
			})
			r.Start()
			sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 2)}, "2")
			synctest.Wait()
			sinktest.Put(r.Sink, rig.At("x", 1), "")
			rec.Before(nil)
			rec.Next()
			hold := make(chan struct{})
			rec.Before(func(call string) {
				if call == "update x@1 x@2" {
					<-hold
				}
			})
			sinktest.Put(r.Sink, rig.At("x", 2), "2")
			synctest.Wait()
			go changes(r) // a source that may have to wait
			synctest.Wait()
			applied = r.Len()
			close(hold)
			calls = rec.Next()
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
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		rec := r.Record()
		hold := make(chan struct{})
		rec.Before(func(call string) {
			if call == "initial b@2" {
				<-hold
			}
		})
		r.Start()
		synctest.Wait()
		assert.False(t, rig.IsClosed(r.Synced()))
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 2)}, "2")
		sinktest.Put(r.Sink, rig.At("c", 3), "3")
		synctest.Wait()
		assert.True(t, rig.IsClosed(r.Synced()), "the store has the list")
		assert.False(t, rig.IsClosed(rec.Synced()), "the handler has not returned")
		assert.NoError(t, r.WaitForSync(t.Context()))
		close(hold)
		assert.Equal(t, []string{"initial a@1", "initial b@2", "add c@3"}, rec.Next())
		assert.True(t, rig.IsClosed(rec.Synced()))
		assert.NoError(t, rec.WaitForSync(t.Context()))
	})
	t.Run("empty", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r := rig.New(t)
			every, coalescing := r.Record(), r.Record(typed.WithDelivery(typed.Coalesce()))
			r.Start()
			sinktest.Replace(r.Sink, "", nil, "1")
			synctest.Wait()
			assert.True(t, rig.IsClosed(r.Synced()) && rig.IsClosed(every.Synced()) && rig.IsClosed(coalescing.Synced()))
		})
	})
}

func TestLateHandlers(t *testing.T) {
	for _, delivery := range []typed.Delivery{typed.EveryEvent(), typed.Coalesce(), typed.Block(3)} {
		t.Run(delivery.String(), func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				r := rig.New(t)
				r.Start()
				sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 2)}, "2")
				sinktest.Put(r.Sink, rig.At("a", 3), "3")
				synctest.Wait()

				rec := &rig.Recorder{}
				hold := make(chan struct{})
				rec.Before(func(string) { <-hold })
				reg, err := r.Handle(rec, typed.WithDelivery(delivery))
				require.NoError(t, err)
				sinktest.Put(r.Sink, rig.At("b", 4), "4")
				sinktest.Delete(r.Sink, rig.At("a", 5), "5")
				synctest.Wait()
				assert.False(t, rig.IsClosed(reg.Synced()))
				close(hold)
				calls := rec.Next()
				require.Len(t, calls, 4)
				assert.ElementsMatch(t, []string{"initial a@3", "initial b@2"}, calls[:2])
				assert.Equal(t, []string{"update b@2 b@4", "delete a@5 Watched"}, calls[2:])
				assert.True(t, rig.IsClosed(reg.Synced()))
			})
		})
	}
}
