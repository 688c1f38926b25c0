package reference_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed/reference"
)

// TestRefusedForAnotherReason: a key is refused with the error that there is now, and Watch reports
// another one.
func TestRefusedForAnotherReason(t *testing.T) {
	things := schema.GroupResource{Resource: "things"}
	scriptIn(t, func(t *testing.T, s *scripted) {
		var told []string
		defer s.Watch(func(_ index.Key, state reference.State) { told = append(told, state.Err.Error()) })()
		a := s.sink("a")
		unserved := apierrors.NewNotFound(things, "")
		forbidden := apierrors.NewForbidden(things, "", errors.New("no right to list"))
		for _, err := range []error{unserved, unserved, forbidden, forbidden} {
			a.Report(err)
			time.Sleep(time.Second)
			synctest.Wait()
			state := s.State(rig.Key("a"))
			assert.Equal(t, reference.Refused, state.Phase)
			require.ErrorIs(t, state.Err, err)
			_, _, err := reference.Get(t.Context(), s.Source, s.informer, rig.Key("a"))
			assert.ErrorContains(t, err, state.Err.Error())
		}
		assert.Equal(t, []string{unserved.Error(), forbidden.Error()}, told)
	}, "a")
}
