package reference_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/apitest"
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
