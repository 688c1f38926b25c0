package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil // they would wait by the clock outside of the bubble
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	goleak.VerifyTestMain(m)
}

// TestDashboard: while a cluster is down its Pods stay, and the other clusters continue.
func TestDashboard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		require.NoError(t, demonstrate(t.Context(), &out))
		assert.Equal(t, `CLUSTER  PODS  RUNNING  STATE
east     3     3        synced
north    3     3        synced
west     3     3        synced

west goes down, and all clusters get a Pod
CLUSTER  PODS  RUNNING  STATE
east     4     4        synced
north    4     4        synced
west     3     3        stale for 0s

west comes back
CLUSTER  PODS  RUNNING  STATE
east     4     4        synced
north    4     4        synced
west     4     4        synced

north leaves
CLUSTER  PODS  RUNNING  STATE
east     4     4        synced
west     4     4        synced
`, out.String())
	})
}

// TestContexts: one that does not exist is named, with those that do.
func TestContexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(path, []byte(`
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://c.example.com"}}]
contexts: [{name: east, context: {cluster: c}}]
`), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err := follow(ctx, path, "east,nrth", time.Second, io.Discard)
	assert.ErrorContains(t, err, `no context "nrth", only: east`)
}
