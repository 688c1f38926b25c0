package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.New(nil))
	goleak.VerifyTestMain(m)
}

func TestRunShows(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), "", &out))
	assert.Contains(t, out.String(), `A Pod comes to node-b
  ~ endpoints of shop/web: 10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4 in east
  ~ load of node-b: 2 Pods, 1 CPU, 512Mi memory; 3 CPU and 7680Mi left
  ~ quota shop/small: 4 Pods, 2 CPU, 1Gi memory, too much pods
It is not ready any more
  ~ endpoints of shop/web: 10.0.0.1 10.0.0.2 10.0.0.3 in east
node-b moves to another zone
  ~ endpoints of shop/web: 10.0.0.1 10.0.0.2 in east 10.0.0.3 in west
`)
	assert.Contains(t, out.String(), "app=web in shop of ByLabels(backends): shop/web-0 shop/web-1 shop/web-2")
}

func TestRunNeedsItsKubeconfig(t *testing.T) {
	assert.ErrorContains(t, run(t.Context(), filepath.Join(t.TempDir(), "missing"), nil), "no such file")
}

// inShop calls f while the views of a server with the objects of shop run. They have taken
// up all that was written before synctest.Wait returns.
func inShop(t *testing.T, f func(t *testing.T, srv *apitest.Server, c *collections)) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, served(), apitest.WithObjects(shop()...))
		require.NoError(t, watch(t.Context(), srv.Config(), true, func(_ context.Context, _ *inputs, c *collections) error {
			f(t, srv, c)
			return nil
		}))
	})
}

// of returns the object of a collection, as it is when nothing is left to do.
func of[T object](t *testing.T, c *collection[T], namespace, name string) T {
	t.Helper()
	synctest.Wait()
	obj, ok := c.informer.Get(index.Key{Namespace: namespace, Name: name})
	require.True(t, ok, "%s/%s", namespace, name)
	return obj
}
