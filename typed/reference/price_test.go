package reference_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/reference"
	"github.com/kubetyped/informer/typed/source"
)

// serves is set in the process that is the server.
const serves = "REFERENCE_SERVES"

var profile = flag.String("price.profile", "", "where BenchmarkName writes a heap profile and the goroutines")

// TestServe is the API server of BenchmarkName, in another process: with HTTP/1, and with
// HTTP/2 by a proxy. It ends with its standard input.
func TestServe(t *testing.T) {
	if os.Getenv(serves) == "" {
		t.Skip("only for BenchmarkName")
	}
	srv := apitest.Start(t, apitest.WithNamespaceLifecycle())
	at, err := url.Parse(srv.Config().Host)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(at)
	proxy.FlushInterval = -1
	both := httptest.NewUnstartedServer(proxy)
	both.EnableHTTP2 = true
	both.StartTLS()
	defer both.Close()
	fmt.Printf("at %s %s\n", srv.Config().Host, both.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
	both.CloseClientConnections()
}

// BenchmarkName is the price of a name that is followed: of the client alone.
func BenchmarkName(b *testing.B) {
	for _, proto := range []string{"http1", "http2"} {
		b.Run(fmt.Sprintf("proto=%s/names=200", proto), func(b *testing.B) { priceOf(b, proto, 200) })
	}
}

func priceOf(b *testing.B, proto string, names int) {
	config := serverOfItsOwn(b, proto)
	secrets := reference.NewSource[string](func(k index.Key) source.Source[*corev1.Secret] {
		return kube.FromREST[*corev1.Secret](config, kube.WithName(k))
	})
	informer := typed.NewInformer(secrets)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- informer.Run(ctx) }()
	_, _, err := reference.Get(ctx, secrets, informer, key("first")) // what all share
	require.NoError(b, err)
	before, goroutines := memory(), runtime.NumGoroutine()
	keys := make([]index.Key, names)
	for i := range keys {
		keys[i] = key(fmt.Sprint("s", i))
	}
	for b.Loop() {
		require.NoError(b, secrets.Hold("o", keys...))
		for _, k := range keys {
			_, _, err := reference.Get(ctx, secrets, informer, k)
			require.NoError(b, err)
		}
	}
	after := memory()
	n := float64(names)
	b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/n, "goroutines/name")
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1024/n, "heap-KiB/name")
	b.ReportMetric(float64(after.StackInuse-before.StackInuse)/1024/n, "stack-KiB/name")
	if *profile != "" {
		for _, of := range []string{"heap", "goroutine"} {
			file, err := os.Create(*profile + "." + proto + "." + of)
			require.NoError(b, err)
			require.NoError(b, pprof.Lookup(of).WriteTo(file, 0))
			require.NoError(b, file.Close())
		}
	}
	cancel()
	require.NoError(b, <-done)
}

// memory returns what is in use.
func memory() (stats runtime.MemStats) {
	time.Sleep(500 * time.Millisecond)
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return stats
}

// serverOfItsOwn starts the server, and returns a configuration for it.
func serverOfItsOwn(b *testing.B, proto string) *rest.Config {
	cmd := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^TestServe$", "-test.v")
	cmd.Env = append(os.Environ(), serves+"=1")
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if hosts, ok := strings.CutPrefix(lines.Text(), "at "); ok {
			http1, http2, _ := strings.Cut(hosts, " ")
			if proto == "http2" {
				return &rest.Config{Host: http2, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, QPS: -1}
			}
			return &rest.Config{Host: http1, QPS: -1}
		}
	}
	b.Fatal("the server has not said where it is")
	return nil
}
