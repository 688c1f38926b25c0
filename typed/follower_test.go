package typed_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// followed is a follower that writes down its calls.
type followed struct {
	mu    sync.Mutex
	calls []string
}

func (f *followed) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
}

// next returns the calls since the last time.
func (f *followed) next() []string {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := f.calls
	f.calls = nil
	return calls
}

func (f *followed) Begin(objects *index.Snapshot[*rig.Thing]) { f.note("begin %v", objects.List()) }

func (f *followed) Step(events []typed.Event[*rig.Thing], resourceVersion string) {
	words := ""
	for _, e := range events {
		words += fmt.Sprintf(" %v %v", e.Type, e.New)
	}
	f.note("step%s at %q", words, resourceVersion)
}

func (f *followed) Synced()          { f.note("synced") }
func (f *followed) Report(err error) { f.note("report %v", err) }
func (f *followed) End(cause error)  { f.note("end %v", cause) }
func things(names ...string) (all []*rig.Thing) {
	for i, name := range names {
		all = append(all, rig.At(name, i+1))
	}
	return all
}

// TestFollow: a follower receives each step, as a whole, and each state of the informer.
func TestFollow(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, typed.WithName("things"))
		f := &followed{}
		_, err := r.Follow(f)
		require.NoError(t, err)
		assert.Equal(t, []string{"report " + typed.ErrNotStarted.Error(), "begin []"}, f.next())
		r.Start()
		assert.Equal(t, []string{"report <nil>"}, f.next())
		r.Sink.Report(errors.New("no rights"))
		assert.Equal(t, []string{"report no rights"}, f.next())
		sinktest.Replace(r.Sink, "", things("a", "b"), "2")
		assert.Equal(t, []string{"report <nil>", `step Added a@1 Added b@2 at "2"`, "synced"}, f.next())
		sinktest.Put(r.Sink, rig.At("a", 3), "3")
		assert.Equal(t, []string{`step Updated a@3 at "3"`}, f.next())
		sinktest.Bookmark(r.Sink, "9")
		assert.Equal(t, []string{`step at "9"`}, f.next())
		sinktest.Replace(r.Sink, "", things("b"), "10")
		assert.Equal(t, []string{"report <nil>", `step Deleted a@3 Updated b@1 at "10"`}, f.next())

		late := &followed{}
		unfollow, err := r.Follow(late)
		require.NoError(t, err)
		assert.Equal(t, []string{"report <nil>", "begin [b@1]", "synced"}, late.next())
		sinktest.Delete(r.Sink, rig.At("b", 11), "11")
		assert.Equal(t, []string{`step Deleted b@11 at "11"`}, late.next())
		unfollow()
		unfollow()
		r.Stop()
		assert.Empty(t, late.next())
		assert.Equal(t, []string{`step Deleted b@11 at "11"`, "end " + typed.ErrStopped.Error()}, f.next())
		_, err = r.Follow(f)
		require.ErrorIs(t, err, typed.ErrStopped)
		require.NoError(t, r.Release())
		_, err = r.Follow(f)
		require.ErrorIs(t, err, index.ErrReleased)
	})
}

// TestFollowNil: there is an error for followers that are nil.
func TestFollowNil(t *testing.T) {
	informer := typed.NewInformer(rig.NewScript(), typed.WithName("things"))
	for _, none := range []typed.Follower[*rig.Thing]{nil, (*followed)(nil)} {
		_, err := informer.Follow(none)
		assert.EqualError(t, err, "informer things: follower not added: follower is nil: create it before the call of Follow")
	}
}

// TestFollowSharedInformer: a follower ends with the use of the informer, once.
func TestFollowSharedInformer(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := typed.NewFactory()
		script := rig.NewScript()
		share := func() *typed.SharedInformer[*rig.Thing] {
			s, err := typed.Share(f, "things", func() source.Source[*rig.Thing] { return script })
			require.NoError(t, err)
			return s
		}
		first, second := share(), share()
		assert.True(t, first.Is(second))
		assert.False(t, first.Is(rig.New(t).Informer))
		assert.Equal(t, first.DerivedFrom(), second.DerivedFrom())
		sink := <-script.Started
		ended, left, last := &followed{}, &followed{}, &followed{}
		_, err := first.Follow(ended)
		require.NoError(t, err)
		unfollow, err := first.Follow(left)
		require.NoError(t, err)
		_, err = second.Follow(last)
		require.NoError(t, err)
		sinktest.Replace(sink, "", things("a"), "1")
		assert.Equal(t, []string{"report <nil>", "begin []", "report <nil>", `step Added a@1 at "1"`, "synced"}, ended.next())
		left.next()
		last.next()
		unfollow()
		first.Release()
		sinktest.Put(sink, rig.At("a", 2), "2")
		assert.Equal(t, []string{"end informer " + first.Name() + ": " + index.ErrReleased.Error()}, ended.next())
		assert.Empty(t, left.next())
		assert.Equal(t, []string{`step Updated a@2 at "2"`}, last.next())
		assert.Empty(t, ended.next())
		f.Shutdown()
		require.Len(t, last.next(), 1)
		second.Release()
		assert.Empty(t, last.next(), "it has ended before")
		_, err = second.Follow(last)
		require.ErrorIs(t, err, index.ErrReleased)
	})
}

// TestStep: changes that belong together are seen as a whole, however many they are, and
// done is called when they are.
func TestStep(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", things("a", "b"), "2")
		synctest.Wait()
		events := r.Record()
		assert.ElementsMatch(t, []string{"initial a@1", "initial b@2"}, events.Next())
		var changes []index.Change[*rig.Thing]
		for i := range 1000 {
			changes = append(changes, index.Change[*rig.Thing]{Object: rig.At(fmt.Sprint("c", i), 1)})
		}
		changes = append(changes, index.Change[*rig.Thing]{Object: rig.At("a", 1), Delete: true})
		f := &followed{}
		_, err := r.Follow(f)
		require.NoError(t, err)
		f.next()
		seen := -1
		r.Sink.Step(changes, "3", func() { seen = r.Len() })
		assert.Len(t, f.next(), 1, "it is one step of the store")
		assert.Equal(t, 1001, seen)
		assert.Equal(t, "3", r.ResourceVersion())
		assert.Len(t, events.Next(), 1001)

		r.Sink.Step(nil, "4", func() { seen = 0 })
		synctest.Wait()
		assert.Zero(t, seen)
		assert.Equal(t, "4", r.ResourceVersion())
		assert.Empty(t, events.Next())

		// What cannot be used is left out, alone.
		r.Sink.Step([]index.Change[*rig.Thing]{{Object: nil}, {Object: rig.At("", 1)}, {Object: rig.At("d", 5)}, {Object: nil, Delete: true}}, "5", nil)
		assert.Equal(t, []string{"add d@5"}, events.Next())
		assert.Equal(t, 3, r.Status().Rejected)

		// A rejection is taken back by a source that says so.
		r.Sink.Report(&source.RejectedError{Key: rig.Key("e"), Err: errors.New("bad")})
		require.Error(t, r.Rejected(rig.Key("e")))
		r.Sink.Report(&source.RejectedError{Key: rig.Key("e")})
		assert.Nil(t, r.Rejected(rig.Key("e")))
	})
}

// TestStepOfATransform: what is transformed on its way is so in steps, too.
func TestStepOfATransform(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, typed.WithTransform(func(o *rig.Thing) (*rig.Thing, error) {
			if o.Version == 2 {
				return nil, errors.New("bad")
			}
			return rig.On("transformed", o), nil
		}))
		r.Start()
		sinktest.Replace(r.Sink, "", things("a"), "1")
		r.Sink.Step([]index.Change[*rig.Thing]{{Object: rig.At("b", 3)}, {Object: rig.At("a", 2), Delete: true}}, "4", nil)
		synctest.Wait()
		all := r.List()
		require.Len(t, all, 1, "the deletion is one, though its last state cannot be used")
		assert.Equal(t, "transformed", all[0].Node)
		assert.Nil(t, r.Rejected(rig.Key("a")))
	})
}

// TestWaitingIsNoFailure: waiting calls report a WaitingError, which counts as no failure.
func TestWaitingIsNoFailure(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		failed := 0
		r := rig.New(t, typed.WithOnError(func(err error) error { failed++; return nil }))
		r.Start()
		cause := errors.New("not yet")
		r.Sink.Report(&source.WaitingError{For: "another", Err: cause})
		synctest.Wait()
		assert.ErrorIs(t, r.Status().Err, cause)
		assert.EqualError(t, r.Status().Err, "waits for another: not yet")
		assert.Zero(t, r.Status().Failures)
		assert.Zero(t, failed)
		assert.EqualError(t, &source.WaitingError{For: "another"}, "waits for another, which has not synced yet")
		sinktest.Replace(r.Sink, "", nil, "1")
		synctest.Wait()
		assert.NoError(t, r.Status().Err)
	})
}
