package rig

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
)

// servesApart is set in the process that is a server.
const servesApart = "RIG_SERVES_APART"

// TestServeApart is what a package calls in its test of this name: the server that
// NewServerApart starts.
func TestServeApart(t *testing.T, pods int, opts ...apitest.Option) {
	if !ServesApart() {
		t.Skip("only for benchmarks whose server is in another process")
	}
	srv, _ := Serve(t, pods, opts...)
	WaitApart(t, srv)
}

// ServesApart reports whether this process is one that NewServerApart started.
func ServesApart() bool { return os.Getenv(servesApart) != "" }

// WaitApart lets NewServerApart know the addresses of a server, with HTTP/1, and with HTTP/2 by a
// proxy, and returns when the standard input ends.
func WaitApart(t *testing.T, srv *apitest.Server) {
	at, err := url.Parse(srv.Config().Host)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(at)
	proxy.FlushInterval = -1
	http2 := httptest.NewUnstartedServer(proxy)
	http2.EnableHTTP2 = true
	http2.StartTLS()
	defer http2.Close()
	fmt.Printf("at %s %s\n", at.Host, http2.Listener.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	http2.CloseClientConnections()
}

// ServerApart is an API server in another process, so that what a benchmark counts is the
// client's alone.
type ServerApart struct{ http1, http2 string }

// NewServerApart starts the package's TestServeApart in another process, with more arguments,
// until b ends.
func NewServerApart(b *testing.B, args ...string) ServerApart {
	cmd := exec.CommandContext(b.Context(), os.Args[0], append([]string{"-test.run=^TestServeApart$", "-test.v"}, args...)...)
	cmd.Env = append(os.Environ(), servesApart+"=1")
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	var s ServerApart
	for lines := bufio.NewScanner(out); s.http1 == "" && lines.Scan(); {
		if addresses, ok := strings.CutPrefix(lines.Text(), "at "); ok {
			s.http1, s.http2, _ = strings.Cut(addresses, " ")
		}
	}
	require.NotEmpty(b, s.http1, "the server does not print its addresses")
	return s
}

// HTTP1 returns a configuration for the server without TLS.
func (s ServerApart) HTTP1() *rest.Config { return &rest.Config{Host: "http://" + s.http1, QPS: -1} }

// HTTP2 returns a configuration for the server with TLS.
func (s ServerApart) HTTP2() *rest.Config {
	return &rest.Config{Host: "https://" + s.http2, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, QPS: -1}
}

// Cluster returns HTTP2 for one of many clusters, with its own connections.
func (s ServerApart) Cluster(name string) *rest.Config {
	config := s.HTTP2()
	config.Host = "https://" + name
	config.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.http2)
	}
	return config
}

// Used is what a process has in use.
type Used struct {
	Goroutines  int
	Heap, Stack uint64 // in bytes
}

// UsedNow collects garbage, and returns the memory and goroutines that are in use.
func UsedNow() Used {
	time.Sleep(500 * time.Millisecond)
	for range 3 {
		runtime.GC()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return Used{runtime.NumGoroutine(), stats.HeapAlloc, stats.StackInuse}
}

// Report reports the difference to an earlier use, divided by the number of things.
func (u Used) Report(b *testing.B, before Used, n int, thing string) {
	b.ReportMetric(float64(u.Goroutines-before.Goroutines)/float64(n), "goroutines/"+thing)
	b.ReportMetric((float64(u.Heap)-float64(before.Heap))/1024/float64(n), "heap-KiB/"+thing)
	b.ReportMetric((float64(u.Stack)-float64(before.Stack))/1024/float64(n), "stack-KiB/"+thing)
}
