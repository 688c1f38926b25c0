package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/apitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRunWatchesEveryResource(t *testing.T) {
	leaked := goleak.IgnoreCurrent()
	var out bytes.Buffer

	require.NoError(t, run(t.Context(), "", 20*time.Second, &out))

	for _, line := range []string{
		`(?m)^RESOURCE +VERSION +OBJECTS +AT$`,
		`(?m)^pods +v1 +3 +\d+$`,
		`(?m)^deployments\.apps +v1 +1 +\d+$`,
		`(?m)^widgets\.example\.com +v1 +1 +\d+$`,
		`(?m)^nodes +v1 +0 +\d+$`,
	} {
		assert.Regexp(t, line, out.String())
	}
	assert.NotContains(t, out.String(), "not synced")
	goleak.VerifyNone(t, leaked)
}

// TestWatchContinuesWithoutForbiddenResources waits three seconds of a bubble, in which all
// others have synced, however busy the machine is.
func TestWatchContinuesWithoutForbiddenResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t)
		srv.Inject(apitest.Fault{Resource: "secrets", Err: apierrors.NewForbidden(
			schema.GroupResource{Resource: "secrets"}, "", errors.New("ask for more rights"))})
		var out bytes.Buffer

		require.NoError(t, watch(t.Context(), srv.Config(), 3*time.Second, &out))

		assert.Regexp(t, `informer secrets is not synced: .*ask for more rights`, out.String())
		assert.NotContains(t, out.String(), "informer configmaps")
		assert.Regexp(t, `(?m)^configmaps +v1 +0 +\d+$`, out.String())
	})
}

func TestRunReturnsBadArguments(t *testing.T) {
	assert.ErrorContains(t, run(t.Context(), filepath.Join(t.TempDir(), "missing"), time.Second, new(bytes.Buffer)), "no such file")
	srv := apitest.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, watch(ctx, srv.Config(), time.Second, new(bytes.Buffer)), context.Canceled)
}
