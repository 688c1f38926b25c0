package reference_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/reference"
	"github.com/kubetyped/informer/typed/source"
)

// TestGetWaitsForItsKeyAlone, including one of those that are held at the start, while others have
// no answer.
func TestGetWaitsForItsKeyAlone(t *testing.T) {
	scriptIn(t, func(t *testing.T, s *scripted) {
		get := func(name string) (*rig.Thing, bool, error) {
			return reference.Get(t.Context(), s.Source, s.informer, rig.Key(name))
		}
		there, none, refused, later := s.sink("there"), s.sink("none"), s.sink("refused"), s.sink("later")
		got := make(chan *rig.Thing)
		go func() {
			obj, _, _ := get("there")
			got <- obj
		}()
		synctest.Wait()
		list(there, "5", rig.At("there", 5))
		assert.Equal(t, rig.At("there", 5), <-got)
		list(there, "6", rig.At("there", 6))
		list(none, "6")
		refused.Report(apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "refused", errors.New("no")))

		obj, exists, err := get("there")
		require.NoError(t, err)
		assert.True(t, exists)
		assert.Equal(t, rig.At("there", 6), obj)
		_, exists, err = get("none")
		require.NoError(t, err)
		assert.False(t, exists)
		_, _, err = get("refused")
		assert.True(t, apierrors.IsForbidden(err))
		assert.Equal(t, reference.Pending, s.State(rig.Key("there")).Phase, "reads of the informer do not reflect it")
		assert.Zero(t, s.informer.Len())

		go sinktest.Put(there, rig.At("there", 8), "8") // it waits for the sync, as the watch does
		synctest.Wait()
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, _, err = reference.Get(short, s.Source, s.informer, rig.Key("there"))
		require.ErrorIs(t, err, context.DeadlineExceeded, "what was listed is not the state any more")
		list(later, "7")
		synctest.Wait()
		obj, _, err = get("there")
		require.NoError(t, err)
		assert.Equal(t, rig.At("there", 8), obj)
		assert.Equal(t, reference.Present, s.State(rig.Key("there")).Phase)
	}, "there", "none", "refused", "later")
}

// TestSlowWatch: what changes while a function runs is reported once a key, and nothing of a key
// that came and went.
func TestSlowWatch(t *testing.T) {
	scriptIn(t, func(t *testing.T, s *scripted) {
		var calls []string
		slow := make(chan struct{})
		stop := s.Watch(func(k index.Key, state reference.State) {
			calls = append(calls, fmt.Sprint(k.Name, " ", state.Phase, " ", state.Version))
			<-slow
		})
		a := s.sink("a")
		list(a, "1")
		synctest.Wait()
		for version := 2; version < 100; version++ {
			sinktest.Put(a, rig.At("a", version), fmt.Sprint(version))
		}
		for n := range 3 {
			name := fmt.Sprint("short", n)
			require.NoError(t, s.Hold(name, rig.Key(name)))
			list(s.sink(name), "99")
			synctest.Wait()
			if n < 2 {
				require.NoError(t, s.Hold(name))
			}
		}
		synctest.Wait()
		close(slow)
		synctest.Wait()
		assert.Equal(t, []string{"a Absent 1", "a Present 99", "short2 Absent 99"}, calls)
		require.NoError(t, s.Hold("short2"))
		synctest.Wait()
		assert.Equal(t, "short2 Unfollowed ", calls[len(calls)-1])
		stop()
	}, "a")
}

// TestRejectedBeforeTheSync: an object that is rejected while other keys have no answer is not
// taken for one that does not exist, and is reported after the sync as well.
func TestRejectedBeforeTheSync(t *testing.T) {
	scriptIn(t, func(t *testing.T, s *scripted) {
		a, b := s.sink("a"), s.sink("b")
		list(a, "5")
		broken := errors.New("broken")
		go a.Report(&source.RejectedError{Key: rig.Key("a"), ResourceVersion: "6", Err: broken}) // it waits for the sync, as changes do
		synctest.Wait()
		_, _, err := reference.Get(t.Context(), s.Source, s.informer, rig.Key("a"))
		require.ErrorIs(t, err, broken)
		list(b, "7")
		synctest.Wait()
		require.NotNil(t, s.informer.Rejected(rig.Key("a")))
		_, _, err = reference.Get(t.Context(), s.Source, s.informer, rig.Key("a"))
		require.ErrorIs(t, err, broken)
		assert.Equal(t, reference.Refused, s.State(rig.Key("a")).Phase)
	}, "a", "b")
}
