package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubetyped/informer/apitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRunShowsTheServerInMemory(t *testing.T) {
	leaked := goleak.IgnoreCurrent()
	var out bytes.Buffer

	err := run(t.Context(), []string{"-pods=1200", "-rate=500", "-duration=1200ms"}, &out)

	require.NoError(t, err, out.String())
	for _, line := range []string{
		`(?m)^API server in memory: 1,200 Pods in 10 namespaces on 50 Nodes, 500 changes/s$`,
		`(?m)^  informers +hold the first list +1,200 Pods +[\d.]+m?s$`,
		`(?m)^ +50 Nodes +[\d.]+m?s$`,
		`(?m)^  handler +was called for +1,200 Pods +[\d.]+m?s$`,
		`(?m)^  view +has computed the load of +50 Nodes +[\d.]+m?s$`,
		`(?m)^  view +running of [1-9]\d* on node-\d\d +[1-9]\d* Pods +[\d.]+[µnm]s$`,
		`(?m)^  load +Synced +50 +\d+ +0 +0$`,
		`(?m)^  key +node-\d\d +zone-[abc] +[\d.]+[nµm]s$`,
		`(?m)^  index +on node-\d\d +[1-9]\d* Pods +[\d.]+[µnm]s$`,
		`(?m)^  lister +app=[a-z]+ +[1-9]\d* Pods +[\d.]+[µnm]s$`,
		`(?m)^  join +both +\d+ Pods +[\d.]+[µnm]s$`,
		`(?m)^  server +has written an annotation, version +\d+ +[\d.]+[µm]?s$`,
		`(?m)^  reads +reflect it +after another +[\d.]+[nµm]?s$`,
		`(?m)^ +1(\.\d)?s +[1-9]`,
		`(?m)^     all +[1-9]\d* +[1-9]\d* +[1-9]\d* +[1-9]\d* +[1-9]\d* +1,[12]\d\d +\d+$`,
		`(?m)^  pods +Synced +1,[12]\d\d +\d+ +\d+ +0$`,
		`(?m)^  nodes +Synced +50 +\d+ +0 +0$`,
		`(?m)^  pods +count by type +EveryEvent\(\) +yes +\d+$`,
		`(?m)^  pods +phase changes +EveryEvent\(\) +yes +\d+$`,
	} {
		assert.Regexp(t, line, out.String())
	}
	goleak.VerifyNone(t, leaked)
}

// seeded returns a server with a Node and a Pod, and the path of a kubeconfig
// for it.
func seeded(t *testing.T, opts ...apitest.Option) (*apitest.Server, string) {
	t.Helper()
	srv := apitest.Start(t, opts...)
	require.NoError(t, srv.Create(t.Context(),
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}},
		&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", Labels: map[string]string{"app.kubernetes.io/name": "web"}},
			Spec:       corev1.PodSpec{NodeName: "n1"},
		}))
	return srv, kubeconfig(t, srv.URL)
}

// kubeconfig returns the path of a kubeconfig for the server at url, in a
// context named "there".
func kubeconfig(t *testing.T, url string) string {
	t.Helper()
	config := api.NewConfig()
	config.Clusters["c"] = &api.Cluster{Server: url}
	config.AuthInfos["u"] = &api.AuthInfo{}
	config.Contexts["there"] = &api.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "there"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*config, path))
	return path
}

func TestRunOnlyReadsFromAKubeconfigsCluster(t *testing.T) {
	srv, path := seeded(t)
	var out bytes.Buffer

	err := run(t.Context(), []string{"-kubeconfig", path, "-context", "there", "-duration=50ms"}, &out)

	require.NoError(t, err, out.String())
	assert.Contains(t, out.String(), "Cluster at "+srv.URL+", read only\n")
	assert.Regexp(t, `(?m)^  lister +app.kubernetes.io/name=web +1 Pods`, out.String())
	assert.Regexp(t, `(?m)^  server +is at version +\d+ `, out.String())
	assert.Regexp(t, `(?m)^  reads +reflect it +`, out.String())
	assert.Regexp(t, `(?m)^     all +0 +0 +0 +0 +0 +1 +0$`, out.String())
	assert.Equal(t, srv.Requests("", ""), srv.Requests("list", "")+srv.Requests("watch", ""))
}

func TestReachedReportsAnUnseenVersion(t *testing.T) {
	var out bytes.Buffer
	r := &printer{w: &out}
	expired := func(context.Context, string) error { return fmt.Errorf("wait: %w", context.DeadlineExceeded) }

	require.NoError(t, r.reached(t.Context(), "7", expired))
	assert.Contains(t, out.String(), "no bookmark has come")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, r.reached(ctx, "7", expired), context.DeadlineExceeded, "its own end is not the end of patience")
	other := errors.New("other")
	assert.ErrorIs(t, r.reached(t.Context(), "7", func(context.Context, string) error { return other }), other)
}

func TestRunReturnsTheReasonOfNoSync(t *testing.T) {
	const refused = "http://127.0.0.1:1" // no server listens there

	t.Run("unreachable", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			begin := time.Now()

			err := run(t.Context(), []string{"-kubeconfig", kubeconfig(t, refused), "-timeout=1200ms"}, &out)

			assert.ErrorContains(t, err, "informer pods is not synced")
			assert.ErrorContains(t, err, "informer nodes is not synced")
			assert.ErrorContains(t, err, "connection refused")
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Regexp(t, `(?m)^ +1\.0s   pods: syncing, failed \d+×   nodes: syncing, failed \d+×$`, out.String())
			assert.Equal(t, 1200*time.Millisecond, time.Since(begin))
		})
	})
	t.Run("forbidden", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			srv := apitest.Start(t)
			srv.Inject(apitest.Fault{Resource: "pods", Err: apierrors.NewForbidden(
				schema.GroupResource{Resource: "pods"}, "", errors.New("ask for more rights"))})

			err := watch(t.Context(), &cluster{config: srv.Config()}, options{timeout: 500 * time.Millisecond}, &printer{w: new(bytes.Buffer)})

			assert.ErrorContains(t, err, "informer pods is not synced")
			assert.ErrorContains(t, err, "ask for more rights")
		})
	})
	t.Run("no such kubeconfig", func(t *testing.T) {
		err := run(t.Context(), []string{"-kubeconfig", filepath.Join(t.TempDir(), "missing")}, new(bytes.Buffer))
		assert.ErrorContains(t, err, "read the kubeconfig: ")
		assert.ErrorContains(t, err, "no such file")
	})
	t.Run("no such context", func(t *testing.T) {
		err := run(t.Context(), []string{"-kubeconfig", kubeconfig(t, refused), "-context=elsewhere"}, new(bytes.Buffer))
		assert.ErrorContains(t, err, `context "elsewhere" does not exist`)
	})
}

func TestRunEndsWhenItIsInterrupted(t *testing.T) {
	for _, at := range []string{"API server in memory", "Sync", "Look-ups", "Events", "backlog\n    "} {
		t.Run(strings.Fields(at)[0], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // which sees to it that no goroutine is left
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				out := &cancelOn{text: at, cancel: cancel}

				err := run(ctx, []string{"-pods=200", "-duration=1m"}, out)

				require.NoError(t, err)
				assert.True(t, strings.HasSuffix(out.String(), "\nInterrupted\n"), out.String())
			})
		})
	}
}

func TestRunEndsWhenItIsInterruptedOnAServerThatHangs(t *testing.T) {
	srv, path := seeded(t)
	srv.Inject(apitest.Fault{Way: apitest.Requests, Latency: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &cancelOn{text: "s   pods: syncing   nodes: syncing\n", cancel: cancel}

	require.NoError(t, run(ctx, []string{"-kubeconfig", path}, out))
	assert.Contains(t, out.String(), "\nInterrupted\n")
}

func TestRunChecksItsFlags(t *testing.T) {
	for _, args := range [][]string{{"-duration=0s"}, {"-timeout=-1s"}, {"-pods=0"}, {"-rate=-1"}, {"-unknown"}, {"argument"}} {
		var out bytes.Buffer
		assert.Error(t, run(t.Context(), args, &out), args)
		assert.Empty(t, out.String(), args)
	}
	var out bytes.Buffer
	assert.NoError(t, run(t.Context(), []string{"-h"}, &out))
	assert.Contains(t, out.String(), "-kubeconfig")
}

func TestNumbersAreShort(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 12345678: "12,345,678", -100: "-100", -1234: "-1,234"} {
		assert.Equal(t, want, grouped(n))
	}
	for d, want := range map[time.Duration]string{
		0: "0s", 97: "97ns", 1234: "1.23µs", 45678: "45.7µs", 456789: "457µs",
		312_345_678: "312ms", 1_234_567_890: "1.23s", 61_234 * time.Millisecond: "1m1.2s",
	} {
		assert.Equal(t, want, short(d))
	}
}

// cancelOn collects what is written, and cancels when it has seen a text.
type cancelOn struct {
	text   string
	cancel context.CancelFunc

	mu  sync.Mutex
	out strings.Builder // guarded by mu
}

func (c *cancelOn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.Write(p)
	if strings.Contains(c.out.String(), c.text) {
		c.cancel()
	}
	return len(p), nil
}

func (c *cancelOn) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.String()
}
