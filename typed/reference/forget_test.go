package reference_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed/reference"
)

// TestForget: keys that are idle are dropped at once, those that are held are not.
func TestForget(t *testing.T) {
	serve(t, func(t *testing.T, s *server) {
		require.NoError(t, s.secrets.Hold("o", key("held")))
		s.start()
		_, _, err := s.get("idle")
		require.NoError(t, err)
		s.secrets.Forget(key("held"), key("idle"), key("unknown"))
		settle()
		assert.Equal(t, 1, s.Watches("secrets"))
		status := s.secrets.Status()
		assert.Equal(t, 1, status.Held)
		assert.Zero(t, status.Idle)
	})
}

// TestKindIsNotServed: the answer 404 to a list says nothing about an object, and is not taken
// for one about it.
func TestKindIsNotServed(t *testing.T) {
	serve(t, func(t *testing.T, s *server) {
		s.Inject(apitest.Fault{Resource: "secrets", Err: apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "")})
		s.start()
		_, _, err := s.get("a")
		require.ErrorContains(t, err, "whether the object exists is not known: the list is not served")
		assert.False(t, apierrors.IsNotFound(err))
	})
}

// TestKeyReleasedBeforeItsAnswer is dropped with the answer, and no state of it is reported.
func TestKeyReleasedBeforeItsAnswer(t *testing.T) {
	scriptIn(t, func(t *testing.T, s *scripted) {
		var states []reference.State
		stop := s.Watch(func(_ index.Key, state reference.State) { states = append(states, state) })
		require.NoError(t, s.Hold("o", rig.Key("a")))
		a := s.sink("a")
		require.NoError(t, s.Hold("o"))
		list(a, "1", rig.At("a", 1))
		s.next()
		stop()
		assert.Equal(t, reference.Status{Limit: 1000}, s.Status())
		assert.Empty(t, states)
	})
}
