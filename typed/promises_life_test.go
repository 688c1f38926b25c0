package typed_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// The tests of this file are the promises 6 to 9 of Informer.

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
		hold := make(chan struct{})
		slowly := &recorder{hook: func(string) { <-hold }}
		slow, err := r.Handle(slowly)
		require.NoError(t, err)
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
		assert.NoError(t, r.Err())
		assert.Equal(t, 1, r.Len(), "reads answer from the last state")
		assert.Equal(t, "1", r.ResourceVersion())
		assert.Equal(t, "a@1", mustGet(t, r, "a").String())
		assert.Len(t, byNode.Get("node-1"), 1)
		assert.Equal(t, 1, r.Status().Objects)
		assert.Equal(t, typed.PhaseStopped, r.Status().Phase)
		_, err = r.Handle(&recorder{})
		assert.ErrorIs(t, err, typed.ErrStopped)
		assert.ErrorIs(t, r.AddIndexes(index.New("late", func(o *thing) []string { return nil })), typed.ErrStopped)
		assert.ErrorIs(t, r.WaitForSync(t.Context()), typed.ErrStopped)
		assert.ErrorIs(t, r.Run(t.Context()), typed.ErrStarted)
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
