package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/apitest"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.New(nil))
	// Few seeds for each change; in CI, go test -simulation.seeds=200.
	if err := flag.Set("simulation.seeds", "10"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

func TestRunPlays(t *testing.T) {
	leaked := goleak.IgnoreCurrent()
	var out bytes.Buffer

	require.NoError(t, run(t.Context(), nil, &out))

	for _, line := range []string{
		`(?m)^create a ConfigMap with replicas: 3 +Pods: 3, after \d`,
		`(?m)^delete its Pods +Pods: 3, after \d`,
		`(?m)^replicas: 5 +Pods: 5, after \d`,
		`(?m)^replicas: 1 +Pods: 1, after \d`,
		`(?m)^delete the ConfigMap +Pods: 0, after \d`,
		`(?m)^queue: 0 waiting, 0 in process, 0 delayed, \d+ retries$`,
		`(?m)^own writes: \d+ were read before the watch brought them, \d+ after it, 0 late$`,
		`(?m)^# TYPE workqueue_adds_total counter\nworkqueue_adds_total{name="owners"} [1-9]\d*$`,
		`(?m)^workqueue_depth{name="owners"} 0$`,
		`(?m)^# TYPE workqueue_work_duration_seconds summary\nworkqueue_work_duration_seconds_count{name="owners"} [1-9]\d*\nworkqueue_work_duration_seconds_sum{name="owners"} [\d.e-]*[1-9][\d.e-]*$`,
	} {
		assert.Regexp(t, line, out.String())
	}
	goleak.VerifyNone(t, leaked)
}

// kubeconfig returns the path of a kubeconfig for the server at url.
func kubeconfig(t *testing.T, url string) string {
	t.Helper()
	config := api.NewConfig()
	config.Clusters["c"] = &api.Cluster{Server: url}
	config.AuthInfos["u"] = &api.AuthInfo{}
	config.Contexts["x"] = &api.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*config, path))
	return path
}

func TestRunOnAClusterOfAKubeconfig(t *testing.T) {
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(t.Context(), asking("web", "2")))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	ended := make(chan error)
	go func() {
		ended <- run(ctx, []string{"-kubeconfig", kubeconfig(t, srv.URL), "-namespace", "leases"}, &out)
	}()

	eventually(t, func() bool { return len(podsOf(t, srv, "web")) == 2 })
	cancel()
	require.NoError(t, <-ended)
	assert.Contains(t, out.String(), "queue: 0 waiting")
	assert.NotContains(t, out.String(), "replicas: 5")
	lease := leaseOf(t, srv, "leases")
	assert.Empty(t, *lease.Spec.HolderIdentity, "it was given back")
}

// TestRunServes: an instance serves its metrics while it runs, and is ready once it has synced.
func TestRunServes(t *testing.T) {
	srv := apitest.Start(t)
	frozen := srv.Inject(apitest.Fault{Resource: "configmaps", Freeze: true})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read, out := io.Pipe()
	ended := make(chan error)
	go func() {
		err := run(ctx, []string{"-kubeconfig", kubeconfig(t, srv.URL), "-serve", "127.0.0.1:0"}, out)
		ended <- errors.Join(err, out.Close())
	}()
	line, err := bufio.NewReader(read).ReadString('\n')
	require.NoError(t, err)
	url, found := strings.CutPrefix(strings.TrimSuffix(line, "/metrics and /readyz\n"), "serves ")
	require.True(t, found, line)
	go func() { _, _ = io.Copy(io.Discard, read) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	get := func(path string) (code int, body string) {
		response, err := client.Get(url + path)
		if err != nil {
			return 0, "" // it does not listen any more
		}
		text, err := io.ReadAll(response.Body)
		require.NoError(t, errors.Join(err, response.Body.Close()))
		return response.StatusCode, string(text)
	}

	notSynced := regexp.MustCompile(`informer \*v1.ConfigMap .* is not synced: `)
	eventually(t, func() bool { // once it was started
		code, body := get("/readyz")
		return code == http.StatusServiceUnavailable && notSynced.MatchString(body)
	})
	frozen.Remove()
	eventually(t, func() bool { code, _ := get("/readyz"); return code == http.StatusOK })

	adds := func(n int) string { return fmt.Sprintf("workqueue_adds_total{name=\"owners\"} %d\n", n) }
	_, body := get("/metrics")
	assert.Contains(t, body, adds(0))
	require.NoError(t, srv.Create(t.Context(), asking("web", "2")))
	eventually(t, func() bool { return len(podsOf(t, srv, "web")) == 2 })
	_, body = get("/metrics")
	assert.NotContains(t, body, adds(0))
	cancel()
	require.NoError(t, <-ended)
	code, _ := get("/metrics")
	assert.Zero(t, code, "nobody listens any more")
}

func TestRunEndsWithoutServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	var out bytes.Buffer

	require.NoError(t, run(ctx, []string{"-kubeconfig", kubeconfig(t, "http://127.0.0.1:1")}, &out))
}

func TestRunChecksItsArguments(t *testing.T) {
	var out bytes.Buffer
	assert.ErrorIs(t, run(t.Context(), []string{"-h"}, &out), flag.ErrHelp)
	assert.Contains(t, out.String(), "-kubeconfig file")
	assert.ErrorContains(t, run(t.Context(), []string{"-unknown"}, &out), "unknown")
	assert.ErrorContains(t, run(t.Context(), []string{"-workers=0"}, &out), "0 workers")
	assert.ErrorContains(t, run(t.Context(), []string{"-serve=nowhere"}, &out), "nowhere")
	assert.ErrorContains(t, run(t.Context(), []string{"-kubeconfig", filepath.Join(t.TempDir(), "missing")}, &out), "no such file")
}
