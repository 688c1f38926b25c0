package conformance_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/internal/test/conformance"
)

func TestDoRetriesWhenAsked(t *testing.T) {
	srv := apitest.Start(t)
	list := func() int {
		code, _, _ := conformance.Do(t.Context(), t, srv.Config(), http.MethodGet, "/api/v1/configmaps", nil, "")
		return code
	}
	srv.Inject(apitest.Fault{Verb: "list", Resource: "configmaps", Times: 1, Err: apierrors.NewTooManyRequests("storage is (re)initializing", 1)})
	assert.Equal(t, http.StatusOK, list())
	assert.Equal(t, 2, srv.Requests("list", "configmaps"))

	srv.Inject(apitest.Fault{Verb: "list", Resource: "configmaps", Times: 1, Err: apierrors.NewTooManyRequestsError("too many")})
	assert.Equal(t, http.StatusTooManyRequests, list(), "nobody has said when to come again")
}
