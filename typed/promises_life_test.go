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
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/report"
)

// The tests of this file are the promises 6 to 9 of Informer.

func TestRelist(t *testing.T) {
	relist := func(t *testing.T, want []string, list []*rig.Thing, opts ...typed.Option) {
		rig.InBubble(t, func(t *testing.T) {
			r := rig.New(t, opts...)
			rec := r.Record()
			r.Start()
			sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 2), rig.At("c", 3)}, "3")
			rec.Next()
			sinktest.Replace(r.Sink, "", list, "9")
			assert.Equal(t, want, rec.Next())
			assert.Equal(t, "9", r.ResourceVersion())
			assert.Equal(t, len(list), r.Len())
		})
	}
	other := rig.At("b", 5)
	other.UID = "another"
	list := func() []*rig.Thing { return []*rig.Thing{rig.At("a", 1), other, rig.At("d", 4)} }
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
		rig.InBubble(t, func(t *testing.T) {
			r := rig.New(t)
			rec := r.Record()
			hold := make(chan struct{})
			rec.Before(func(string) { <-hold })
			r.Start()
			sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 2)}, "2")
			synctest.Wait()
			closed := make(chan struct{})
			go func() { rec.Close(); close(closed) }()
			synctest.Wait()
			assert.False(t, rig.IsClosed(closed), "the handler is running")
			close(hold)
			synctest.Wait()
			assert.True(t, rig.IsClosed(closed))
			sinktest.Put(r.Sink, rig.At("a", 3), "3")
			assert.Equal(t, []string{"initial a@1"}, rec.Next(), "it is not called again")
			assert.ErrorIs(t, rec.WaitForSync(t.Context()), typed.ErrClosed)
			rec.Close() // again
		})
	})
	t.Run("from the handler", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r := rig.New(t)
			rec := r.Record()
			rec.Before(func(string) { rec.Close() })
			r.Start()
			sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 2)}, "2")
			assert.Equal(t, []string{"initial a@1"}, rec.Next())
			assert.Empty(t, r.Status().Handlers)
		})
	})
	t.Run("of another handler, from a handler", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r := rig.New(t)
			other := r.Record()
			rec := r.Record()
			rec.Before(func(string) { other.Close() })
			r.Start()
			sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
			assert.Equal(t, []string{"initial a@1"}, rec.Next())
			sinktest.Put(r.Sink, rig.At("a", 2), "2")
			rec.Next()
			assert.NotContains(t, other.All(), "update a@1 a@2")
		})
	})
	t.Run("before the informer runs", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r := rig.New(t)
			rec := r.Record()
			rec.Close()
			r.Start()
			sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
			assert.Empty(t, rec.Next())
		})
	})
}

func TestStop(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		byNode := index.Single("node", func(o *rig.Thing) (string, bool) { return o.Node, true })
		require.NoError(t, r.AddIndexes(byNode))
		rec := r.Record()
		waits := make(chan error, 3)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		rec.Next()
		hold := make(chan struct{})
		slowly := &rig.Recorder{Hook: func(string) { <-hold }}
		slow, err := r.Handle(slowly)
		require.NoError(t, err)
		go func() { waits <- r.WaitForResourceVersion(context.Background(), "7") }()
		go func() { waits <- slow.WaitForSync(context.Background()) }()
		go func() {
			waits <- endOf(r.Events(context.Background()))
		}()
		synctest.Wait()

		r.Stop()
		synctest.Wait()
		select {
		case err := <-r.Ended:
			t.Fatal("Run has returned while a handler is running", err)
		default:
		}
		close(hold)
		require.NoError(t, <-r.Ended, "told to stop")
		r.Ended <- nil
		// The bubble ends only when all goroutines have: none is left.
		for range 3 {
			if err := <-waits; err != nil { // the handler may have synced
				assert.ErrorIs(t, err, typed.ErrStopped)
			}
		}
		assert.NoError(t, r.Err())
		assert.Equal(t, 1, r.Len(), "reads answer from the last state")
		assert.Equal(t, "1", r.ResourceVersion())
		assert.Equal(t, "a@1", mustGet(t, r, "a").String())
		assert.Len(t, byNode.Get("node-1"), 1)
		assert.Equal(t, 1, r.Status().Objects)
		assert.Equal(t, report.PhaseStopped, r.Status().Phase)
		_, err = r.Handle(&rig.Recorder{})
		assert.ErrorIs(t, err, typed.ErrStopped)
		assert.ErrorIs(t, r.AddIndexes(index.New("late", func(o *rig.Thing) []string { return nil })), typed.ErrStopped)
		assert.ErrorIs(t, r.WaitForSync(t.Context()), typed.ErrStopped)
		assert.ErrorIs(t, r.Run(t.Context()), typed.ErrStarted)
	})
	t.Run("by the source", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r := rig.New(t)
			rec := r.Record()
			r.Start()
			final := errors.New("no such resource")
			r.Script.Fail <- final
			err := <-r.Ended
			r.Ended <- nil
			assert.ErrorIs(t, err, final)
			assert.ErrorContains(t, err, "*rig.Thing", "names the informer")
			assert.ErrorIs(t, r.WaitForSync(t.Context()), final)
			assert.ErrorIs(t, rec.WaitForSync(t.Context()), final, "a handler that never synced tells why")
		})
	})
	t.Run("source has nothing more to say", func(t *testing.T) {
		rig.InBubble(t, func(t *testing.T) {
			r := rig.New(t)
			rec := r.Record()
			r.Start()
			sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
			r.Script.Fail <- nil
			assert.Equal(t, []string{"initial a@1"}, rec.Next())
			assert.Equal(t, 1, r.Len(), "the informer goes on")
		})
	})
}

func TestReaders(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 2), rig.At("c", 3)}, "3")
		synctest.Wait()
		// The loop body lets the informer write, reads from it and changes its
		// handlers; the loop still sees the state in which it began.
		var seen []string
		for o := range r.All() {
			sinktest.Put(r.Sink, rig.At("b", 10+o.Version), fmt.Sprint(10+o.Version))
			sinktest.Delete(r.Sink, rig.At("c", 20+o.Version), fmt.Sprint(20+o.Version))
			require.NoError(t, r.WaitForResourceVersion(t.Context(), fmt.Sprint(20+o.Version)))
			assert.Equal(t, 2, r.Len())
			assert.Len(t, r.List(), 2)
			r.Record().Close()
			seen = append(seen, o.String())
		}
		slices.Sort(seen)
		assert.Equal(t, []string{"a@1", "b@2", "c@3"}, seen)
	})
}
