package observed

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "go.opentelemetry.io/otel"
	_ "go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	_ "go.opentelemetry.io/otel/sdk/trace"
	_ "golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	_ "github.com/prometheus/client_golang/prometheus/promhttp"

	_ "github.com/kubetyped/informer/adapters/metrics"
	_ "github.com/kubetyped/informer/adapters/tracing"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// TestAFewLines builds examples/controller with the lines of edits_test.go, runs it, and
// looks at its page, metrics and traces.
func TestAFewLines(t *testing.T) {
	binary := build(t, slices.Concat(setup, page, prometheus, traces))
	srv := apitest.Start(t)
	url, out, stop := start(t, binary, kubeconfig(t, srv))
	require.NoError(t, srv.WaitForWatches(t.Context(), "configmaps", 1))
	require.NoError(t, srv.Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", Labels: map[string]string{"app.kubernetes.io/managed-by": "kubetyped-example"}},
		Data:       map[string]string{"replicas": "2"},
	}))
	require.Eventually(t, func() bool { return srv.Requests("create", "pods") == 2 }, time.Minute, 10*time.Millisecond)

	var report snapshot.Report
	require.NoError(t, json.Unmarshal([]byte(get(t, url+"/debug/informers/?format=json")), &report))
	assert.Len(t, report.Informers, 2)
	assert.Equal(t, "Synced", report.Informers[0].Phase)
	require.Len(t, report.Queues, 1)
	assert.Equal(t, "owners", report.Queues[0].Name)
	assert.Contains(t, get(t, url+"/debug/informers/"), "What is wrong")

	metrics := get(t, url+"/metrics")
	assert.Contains(t, metrics, `kubetyped_informer_objects{`)
	assert.Contains(t, metrics, `kind="ConfigMap"`)

	assert.Eventually(t, func() bool {
		text := out()
		return strings.Contains(text, "receive ConfigMap") && strings.Contains(text, "reconcile") && strings.Contains(text, "HTTP POST")
	}, time.Minute, 10*time.Millisecond, "a trace from the event to the requests")
	stop()
}

// build returns a program that is examples/controller with edits.
func build(t *testing.T, edits []edit) (binary string) {
	t.Helper()
	const from = "../controller"
	files, err := filepath.Glob(filepath.Join(from, "*.go"))
	require.NoError(t, err)
	here, err := os.Getwd()
	require.NoError(t, err)
	temp := t.TempDir()
	overlay := map[string]string{}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		code, err := os.ReadFile(file)
		require.NoError(t, err)
		text := string(code)
		for _, e := range edits {
			if e.file == name {
				require.Equal(t, 1, strings.Count(text, e.old), "%s: %s", name, e.old)
				text = strings.Replace(text, e.old, e.new, 1)
			}
		}
		edited := filepath.Join(temp, name)
		require.NoError(t, os.WriteFile(edited, []byte(text), 0o600))
		overlay[filepath.Join(here, "controller", name)] = edited
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	overlayFile := filepath.Join(temp, "overlay.json")
	require.NoError(t, os.WriteFile(overlayFile, text, 0o600))
	binary = filepath.Join(temp, "controller")
	output, err := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlayFile, "-o", binary, "./controller").CombinedOutput()
	require.NoError(t, err, string(output))
	return binary
}

// start runs the program, and returns its URL and a function that returns its output so far.
func start(t *testing.T, binary, kubeconfig string) (url string, out func() string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	command := exec.CommandContext(ctx, binary, "-kubeconfig", kubeconfig, "-serve", "localhost:0")
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = time.Minute
	stdout, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	printed := bufio.NewReader(stdout)
	line, err := printed.ReadString('\n')
	require.NoError(t, err)
	url, found := strings.CutPrefix(strings.TrimSuffix(line, "/metrics and /readyz\n"), "serves ")
	require.True(t, found, line)
	var mu sync.Mutex
	var text strings.Builder
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			line, err := printed.ReadString('\n')
			mu.Lock()
			text.WriteString(line)
			mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	stop = sync.OnceFunc(func() {
		cancel()
		reading.Wait()
		_ = command.Wait() // a signal has stopped it
	})
	t.Cleanup(stop)
	return url, func() string { mu.Lock(); defer mu.Unlock(); return text.String() }, stop
}

// kubeconfig writes one for the server.
func kubeconfig(t *testing.T, srv *apitest.Server) string {
	t.Helper()
	config := srv.Config()
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"test": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"test": {Token: config.BearerToken}},
		Contexts:       map[string]*clientcmdapi.Context{"test": {Cluster: "test", AuthInfo: "test"}},
		CurrentContext: "test",
	}, path))
	return path
}

func get(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	require.NoError(t, err)
	defer response.Body.Close() //nolint:errcheck // it has been read
	assert.Equal(t, http.StatusOK, response.StatusCode, url)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(text)
}
