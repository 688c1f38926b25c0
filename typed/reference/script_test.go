package reference_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/reference"
	"github.com/kubetyped/informer/typed/source"
)

// scripted is a source whose keys the test makes all reports of.
type scripted struct {
	*reference.Source[string, *rig.Thing]
	t        *testing.T
	informer *typed.Informer[*rig.Thing]
	mu       sync.Mutex
	scripts  map[string]*rig.Script
	events   []string
}

// scriptIn runs the test in a bubble.
func scriptIn(t *testing.T, test func(t *testing.T, s *scripted), hold ...string) {
	rig.InBubble(t, func(t *testing.T) {
		s := &scripted{t: t, scripts: map[string]*rig.Script{}}
		s.Source = reference.NewSource[string](func(k index.Key) source.Source[*rig.Thing] {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.scripts[k.Name] = rig.NewScript()
			return s.scripts[k.Name]
		}, reference.WithIdle(0))
		s.informer = typed.NewInformer(s.Source)
		for _, name := range hold {
			require.NoError(t, s.Hold(name, rig.Key(name)))
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		events := s.informer.Events(ctx)
		running.Go(func() {
			for e := range events.All() {
				s.mu.Lock()
				s.events = append(s.events, fmt.Sprint(e.Type, " ", e.Reason, " ", e.New))
				s.mu.Unlock()
			}
		})
		running.Go(func() { assert.NoError(t, s.informer.Run(ctx)) })
		test(t, s)
		cancel()
		running.Wait()
	})
}

// sink returns the sink of the last source of a key, once.
func (s *scripted) sink(name string) source.Sink[*rig.Thing] {
	synctest.Wait()
	s.mu.Lock()
	script := s.scripts[name]
	s.mu.Unlock()
	return <-script.Started
}

func (s *scripted) next() (events []string) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	events, s.events = s.events, nil
	return events
}

func list(to source.Sink[*rig.Thing], version string, objs ...*rig.Thing) {
	sinktest.Replace(to, "", objs, version)
}

// TestReasons: an object that is held later is not created, and a released one not deleted.
func TestReasons(t *testing.T) {
	scriptIn(t, func(t *testing.T, s *scripted) {
		a := s.sink("a")
		list(a, "5", rig.At("a", 1))
		assert.Equal(t, []string{"Added Initial a@1"}, s.next())
		require.NoError(t, s.Hold("b", rig.Key("b")))
		b := s.sink("b")
		list(b, "5", rig.At("b", 2))
		assert.Equal(t, []string{"Added Relisted b@2"}, s.next())
		sinktest.Put(b, rig.At("b", 6), "6")
		sinktest.Delete(a, rig.At("a", 1), "7")
		assert.Equal(t, []string{"Updated Watched b@6", "Deleted Watched a@1"}, s.next())
		list(b, "8")
		assert.Equal(t, []string{"Deleted Relisted b@6"}, s.next())
		list(b, "9", rig.At("b", 9))
		require.NoError(t, s.Hold("b"))
		assert.Equal(t, []string{"Added Relisted b@9", "Deleted OutOfScope b@9"}, s.next())
	}, "a")
}

// TestLateReports: a watch whose key was released, and is held again, reports nothing any more.
func TestLateReports(t *testing.T) {
	scriptIn(t, func(t *testing.T, s *scripted) {
		old := s.sink("a")
		list(old, "5", rig.At("a", 1))
		synctest.Wait()
		require.NoError(t, s.Hold("a"))
		require.NoError(t, s.Hold("a", rig.Key("a")))
		list(s.sink("a"), "8")
		s.next()
		sinktest.Put(old, rig.At("a", 6), "6")
		list(old, "9", rig.At("a", 6))
		old.Report(errors.New("late"))
		assert.Empty(t, s.next())
		assert.Equal(t, reference.Absent, s.State(rig.Key("a")).Phase)
		assert.NoError(t, s.informer.Status().Err)
	}, "a")
}

// TestOldEvents: an event that is repeated takes nothing back.
func TestOldEvents(t *testing.T) {
	scriptIn(t, func(t *testing.T, s *scripted) {
		a := s.sink("a")
		list(a, "5", rig.At("a", 5))
		sinktest.Put(a, rig.At("a", 7), "7")
		sinktest.Bookmark(a, "9")
		sinktest.Put(a, rig.At("a", 6), "6")
		sinktest.Delete(a, rig.At("a", 7), "8")
		assert.Equal(t, []string{"Added Initial a@5", "Updated Watched a@7"}, s.next())
	}, "a")
}

// TestVersions: the version of the informer is the lowest of all keys that are watched.
func TestVersions(t *testing.T) {
	scriptIn(t, func(t *testing.T, s *scripted) {
		a, b := s.sink("a"), s.sink("b")
		list(a, "5")
		assert.False(t, rig.IsClosed(s.informer.Synced()), "b is missing")
		b.Report(errors.New("no connection"))
		assert.False(t, rig.IsClosed(s.informer.Synced()), "b has no answer")
		list(b, "6", rig.At("b", 1))
		s.next()
		assert.Equal(t, "5", s.informer.ResourceVersion())
		sinktest.Bookmark(a, "9")
		s.next()
		assert.Equal(t, "6", s.informer.ResourceVersion())
		require.NoError(t, s.informer.WaitForKeyVersion(t.Context(), rig.Key("a"), "9"))
		require.NoError(t, s.Hold("c", rig.Key("c")))
		c := s.sink("c")
		sinktest.Bookmark(b, "9")
		s.next()
		assert.Equal(t, "6", s.informer.ResourceVersion(), "c is pending")
		list(c, "10")
		s.next()
		assert.Equal(t, "9", s.informer.ResourceVersion())
		require.NoError(t, s.Hold("b"))
		sinktest.Bookmark(a, "12")
		s.next()
		assert.Equal(t, "10", s.informer.ResourceVersion())
	}, "a", "b")
}

// TestIncomparableVersions: the informer has no version while those of two keys cannot be compared.
func TestIncomparableVersions(t *testing.T) {
	scriptIn(t, func(t *testing.T, s *scripted) {
		a := s.sink("a")
		list(a, "x", rig.At("a", 1))
		list(s.sink("b"), "y", rig.At("b", 1))
		assert.Len(t, s.next(), 2)
		assert.Empty(t, s.informer.ResourceVersion())
		require.NoError(t, s.Hold("b"))
		sinktest.Bookmark(a, "z")
		s.next()
		assert.Equal(t, "z", s.informer.ResourceVersion())
	}, "a", "b")
}

// TestListsBelowTheFloor: a list that is older than earlier reports is asked for again, until
// the history counts as another one.
func TestListsBelowTheFloor(t *testing.T) {
	scriptIn(t, func(t *testing.T, s *scripted) {
		list(s.sink("a"), "100")
		require.NoError(t, s.Hold("b", rig.Key("b")))
		began := time.Now()
		for range 40 {
			old := s.sink("b")
			list(old, "50", rig.At("b", 50))
			sinktest.Put(old, rig.At("b", 51), "51")
			synctest.Wait()
			if s.State(rig.Key("b")).Phase == reference.Present {
				break
			}
			assert.ErrorContains(t, s.informer.Status().Err, "the list is at version 50, and 100 was seen before")
			time.Sleep(2 * time.Second)
		}
		assert.Equal(t, reference.Present, s.State(rig.Key("b")).Phase)
		assert.GreaterOrEqual(t, time.Since(began), 30*time.Second)
		assert.Less(t, time.Since(began), 40*time.Second)
		require.NoError(t, s.Hold("c", rig.Key("c")))
		list(s.sink("c"), "51")
		synctest.Wait()
		assert.Equal(t, reference.Absent, s.State(rig.Key("c")).Phase, "the floor is that of the new history")
	}, "a")
}

// TestListsBesideOthers: a first list is used if the watch of another key has reached a later version
// since its request, but not if that version had been reached before.
func TestListsBesideOthers(t *testing.T) {
	scriptIn(t, func(t *testing.T, s *scripted) {
		a := s.sink("a")
		list(a, "100")
		require.NoError(t, s.Hold("b", rig.Key("b"), rig.Key("c")))
		b, c := s.sink("b"), s.sink("c")
		sinktest.Bookmark(a, "102")
		list(b, "101", rig.At("b", 50))
		list(c, "99")
		synctest.Wait()
		assert.Equal(t, reference.Present, s.State(rig.Key("b")).Phase)
		assert.Equal(t, reference.Pending, s.State(rig.Key("c")).Phase)
		assert.ErrorContains(t, s.informer.Status().Err, "the list is at version 99, and 100 was seen before")
	}, "a")
}

// TestSourceEnds: a source that ends with an error makes its key refused, and no other.
func TestSourceEnds(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		s := reference.NewSource[string](func(k index.Key) source.Source[*rig.Thing] {
			switch k.Name {
			case "fails":
				return ends{errors.New("final")}
			case "panics":
				return ends{}
			}
			return nothing{}
		})
		informer := typed.NewInformer(s)
		require.NoError(t, s.Hold("o", rig.Key("fails"), rig.Key("panics"), rig.Key("works")))
		ctx, stop := rig.RunInBackground(informer.Run)
		defer stop()
		require.NoError(t, informer.WaitForSync(ctx))
		_, _, err := reference.Get(ctx, s, informer, rig.Key("fails"))
		assert.ErrorContains(t, err, "final")
		_, _, err = reference.Get(ctx, s, informer, rig.Key("panics"))
		assert.ErrorContains(t, err, "source has ended without a list")
		_, exists, err := reference.Get(ctx, s, informer, rig.Key("works"))
		require.NoError(t, err)
		assert.False(t, exists)
	})
}

// ends is a source that ends at once.
type ends struct{ err error }

func (e ends) Run(context.Context, source.Sink[*rig.Thing]) error { return e.err }

// TestForeignObjects: a list of other objects is no answer about the key.
func TestForeignObjects(t *testing.T) {
	scriptIn(t, func(t *testing.T, s *scripted) {
		a := s.sink("a")
		list(a, "5", rig.At("b", 1))
		sinktest.Put(a, rig.At("c", 6), "6")
		synctest.Wait()
		assert.Zero(t, s.informer.Len())
		state := s.State(rig.Key("a"))
		assert.Equal(t, reference.Refused, state.Phase)
		assert.ErrorContains(t, state.Err, "the list by name has other objects")
		assert.NotNil(t, s.informer.Rejected(rig.Key("c")))
	}, "a")
}

// TestRejectedObjects: an object that cannot be used is not absent.
func TestRejectedObjects(t *testing.T) {
	scriptIn(t, func(t *testing.T, s *scripted) {
		list(s.sink("z"), "1")
		require.NoError(t, s.Hold("a", rig.Key("a")))
		a := s.sink("a")
		bad := &source.RejectedError{Key: rig.Key("a"), Listed: true, Err: errors.New("bad bytes")}
		a.Report(bad)
		a.Replace(source.List{Items: []source.Staged{source.Reject(rig.Key("a"))}}, "5")
		_, _, err := reference.Get(t.Context(), s.Source, s.informer, rig.Key("a"))
		assert.ErrorContains(t, err, "whether the object exists is not known")
		sinktest.Put(a, rig.At("a", 6), "6")
		synctest.Wait()
		_, exists, err := reference.Get(t.Context(), s.Source, s.informer, rig.Key("a"))
		require.NoError(t, err)
		assert.True(t, exists)
		sinktest.Delete(a, rig.At("a", 6), "7")
		a.Report(&source.RejectedError{Key: rig.Key("a"), Err: errors.New("bad bytes")})
		synctest.Wait()
		_, _, err = reference.Get(t.Context(), s.Source, s.informer, rig.Key("a"))
		assert.ErrorContains(t, err, "bad bytes")
	}, "z")
}

// TestWatchStops: when stop has returned, nothing is called any more, and a function may stop
// itself and call Get.
func TestWatchStops(t *testing.T) {
	scriptIn(t, func(t *testing.T, s *scripted) {
		var calls []string
		var stopSelf func()
		stopSelf = s.Watch(func(k index.Key, state reference.State) {
			_, _, err := reference.Get(t.Context(), s.Source, s.informer, k)
			assert.NoError(t, err)
			calls = append(calls, "self "+state.Phase.String())
			stopSelf()
		})
		stop := s.Watch(func(_ index.Key, state reference.State) { calls = append(calls, state.Phase.String()) })
		a := s.sink("a")
		list(a, "5")
		synctest.Wait()
		sinktest.Put(a, rig.At("a", 6), "6")
		synctest.Wait()
		stop()
		sinktest.Put(a, rig.At("a", 7), "7")
		synctest.Wait()
		assert.Equal(t, []string{"self Absent", "Absent", "Present"}, calls)
		s.Watch(nil)()
	}, "a")
}

// TestWatchOfDroppedKeys: a key that had a state before Watch is reported when it is dropped,
// even if it changes before that, and one that comes and goes meanwhile is not.
func TestWatchOfDroppedKeys(t *testing.T) {
	scriptIn(t, func(t *testing.T, s *scripted) {
		a, b := s.sink("a"), s.sink("b")
		list(a, "5", rig.At("a", 5))
		list(b, "5", rig.At("b", 5))
		synctest.Wait()
		var calls []string
		resume := make(chan struct{})
		stop := s.Watch(func(k index.Key, state reference.State) {
			calls = append(calls, k.Name+" "+state.Phase.String())
			if k == rig.Key("b") {
				<-resume
			}
		})
		sinktest.Put(b, rig.At("b", 6), "6")
		synctest.Wait()
		require.NoError(t, s.Hold("c", rig.Key("c")))
		list(s.sink("c"), "6")
		sinktest.Put(a, rig.At("a", 7), "7")
		synctest.Wait()
		require.NoError(t, s.Hold("a"))
		require.NoError(t, s.Hold("c"))
		synctest.Wait()
		close(resume)
		synctest.Wait()
		stop()
		assert.Equal(t, []string{"b Present", "a Unfollowed"}, calls)
	}, "a", "b")
}
