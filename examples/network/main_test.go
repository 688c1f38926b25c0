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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/kube"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.New(nil))
	goleak.VerifyTestMain(m)
}

func TestRunShows(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), "", &out))
	assert.Equal(t, "10.1.0.0/16 by 10.1.0.1: Ready\n10.1.0.0/16 by 10.2.0.1: Invalid the gateway 10.2.0.1 is not in 10.1.0.0/16\n", out.String())
}

func TestRunNeedsItsKubeconfig(t *testing.T) {
	assert.ErrorContains(t, run(t.Context(), filepath.Join(t.TempDir(), "missing"), nil), "no such file")
}

func TestStatus(t *testing.T) {
	for _, test := range []struct{ cidr, gateway, phase, message string }{
		{"10.1.0.0/16", "10.1.0.1", "Ready", ""},
		{"fd00::/8", "fd00::1", "Ready", ""},
		{"10.1.0.0/16", "10.2.0.1", "Invalid", "the gateway 10.2.0.1 is not in 10.1.0.0/16"},
		{"10.1.0.0", "10.1.0.1", "Invalid", `the cidr "10.1.0.0" is none`},
		{"10.1.0.0/16", "", "Invalid", `the gateway "" is no address`},
	} {
		assert.Equal(t, NetworkStatus{Phase: test.phase, Message: test.message}, NetworkSpec{CIDR: test.cidr, Gateway: test.gateway}.status())
	}
}

// TestController: the status follows the spec, values that others set in an object stay, and a
// status that is correct is not written. The watch delivers nothing meanwhile: the informer stores
// the program's writes.
func TestController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t, served())
		c, err := newController(srv.Config())
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.run(ctx) }()
		require.NoError(t, c.informer.WaitForSync(ctx))
		srv.Inject(apitest.Fault{Lag: true})

		lab := &Network{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "lab"}, Spec: NetworkSpec{CIDR: "10.1.0.0/16", Gateway: "10.2.0.1"}}
		_, err = c.writer.Create(ctx, lab, metav1.CreateOptions{})
		require.NoError(t, err)
		synctest.Wait()
		old, err := c.writer.Get(ctx, index.KeyOf(lab), metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, "Invalid", old.Status.Phase)
		fixed := kube.Copy(old)
		fixed.Spec.Gateway, fixed.Labels = "10.1.0.1", map[string]string{"tier": "test"}
		_, err = c.writer.MergePatch(ctx, old, fixed, metav1.PatchOptions{})
		require.NoError(t, err)
		synctest.Wait()
		stop()
		require.NoError(t, <-ended)

		last, err := c.writer.Get(t.Context(), index.KeyOf(lab), metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, NetworkStatus{Phase: "Ready"}, last.Status)
		assert.Equal(t, "test", last.Labels["tier"])
		assert.Equal(t, 3, srv.Requests("patch", "networks.samplecrd.k8s.io"), "two of them by the controller")
	})
}
