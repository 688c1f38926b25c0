package ctrlruntime_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/apitest"
	apart "github.com/kubetyped/informer/internal/test/rig"
)

var (
	secretsOfAll = flag.Int("references.secrets", 500, "how many Secrets BenchmarkReferences has in all")
	secretBytes  = flag.Int("references.bytes", 2_000, "the size of each")
)

const namedSecrets = 80

func benchmarkSecret(i, size int) *corev1.Secret {
	secret := newSecret(fmt.Sprint("secret-", i), "1")
	secret.Data["more"] = []byte(strings.Repeat(fmt.Sprintf("%08d", i), size/8))
	return secret
}

// TestServeApart is the API server of BenchmarkReferences.
func TestServeApart(t *testing.T) {
	if !apart.ServesApart() {
		t.Skip("only for BenchmarkReferences")
	}
	srv := apitest.Start(t)
	for i := range *secretsOfAll {
		require.NoError(t, srv.Create(t.Context(), benchmarkSecret(i, *secretBytes)))
	}
	apart.WaitApart(t, srv)
}

// counted counts requests and the bytes of their answers.
type counted struct {
	http.RoundTripper
	requests, bytes *atomic.Int64
}

func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	answer, err := c.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = countedBody{answer.Body, c.bytes}
	}
	return answer, err
}

type countedBody struct {
	io.ReadCloser
	bytes *atomic.Int64
}

func (b countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.bytes.Add(int64(n))
	return n, err
}

// secretReader reads Secrets, after it has begun.
type secretReader func(ctx context.Context, name string) (*corev1.Secret, error)

// byCache returns a reader of a cache.
func byCache(newCache cache.NewCacheFunc) func(*testing.B, context.Context, *rest.Config) secretReader {
	return func(b *testing.B, ctx context.Context, config *rest.Config) secretReader {
		c, err := newCache(config, cache.Options{})
		require.NoError(b, err)
		ended := make(chan error, 1)
		go func() { ended <- c.Start(ctx) }()
		b.Cleanup(func() { require.NoError(b, <-ended) })
		require.True(b, c.WaitForCacheSync(ctx))
		return func(ctx context.Context, name string) (*corev1.Secret, error) {
			secret := &corev1.Secret{}
			return secret, c.Get(ctx, secretKey(name), secret)
		}
	}
}

// secretReaders are the ways to read 80 Secrets.
var secretReaders = map[string]func(*testing.B, context.Context, *rest.Config) secretReader{
	"controller-runtime": byCache(cache.New),
	"references":         byCache(ctrlruntime.NewCache(ctrlruntime.WithReferences[*corev1.Secret]())),
	"client-go": func(b *testing.B, ctx context.Context, config *rest.Config) secretReader {
		factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0)
		secrets := factory.Core().V1().Secrets()
		secrets.Informer()
		factory.Start(ctx.Done())
		b.Cleanup(factory.Shutdown)
		factory.WaitForCacheSync(ctx.Done())
		return func(_ context.Context, name string) (*corev1.Secret, error) {
			return secrets.Lister().Secrets("shop").Get(name)
		}
	},
	"uncached": func(b *testing.B, _ context.Context, config *rest.Config) secretReader {
		c, err := client.New(config, client.Options{})
		require.NoError(b, err)
		return func(ctx context.Context, name string) (*corev1.Secret, error) {
			secret := &corev1.Secret{}
			return secret, c.Get(ctx, secretKey(name), secret)
		}
	},
}

// BenchmarkReferences reads 80 Secrets of many, one pass after the other, at client-go's default
// limit of 5 requests a second. The first pass counts as the time to sync, ns/op are the
// passes that follow.
func BenchmarkReferences(b *testing.B) {
	for _, name := range []string{"client-go", "controller-runtime", "uncached", "references"} {
		b.Run("impl="+name, func(b *testing.B) { benchmarkReferences(b, secretReaders[name]) })
	}
}

func benchmarkReferences(b *testing.B, open func(*testing.B, context.Context, *rest.Config) secretReader) {
	ctx, cancel := context.WithCancel(b.Context())
	var requests, bytes atomic.Int64
	config := apart.NewServerApart(b, fmt.Sprint("-references.secrets=", *secretsOfAll), fmt.Sprint("-references.bytes=", *secretBytes)).HTTP2()
	config.QPS, config.Burst = 5, 10
	config.Wrap(func(of http.RoundTripper) http.RoundTripper { return counted{of, &requests, &bytes} })
	before := apart.UsedNow()
	begun := time.Now()
	b.Cleanup(cancel)
	read := open(b, ctx, config)
	pass := func() {
		for i := range namedSecrets {
			secret, err := read(ctx, fmt.Sprint("secret-", i))
			require.NoError(b, err)
			require.Len(b, secret.Data["more"], *secretBytes/8*8)
		}
	}
	pass()
	synced := time.Since(begun)
	b.ResetTimer()
	for b.Loop() {
		pass()
	}
	b.StopTimer()
	after := apart.UsedNow()
	b.ReportMetric((float64(after.Heap)-float64(before.Heap))/1e6, "MB-heap")
	b.ReportMetric(float64(bytes.Load())/1e6, "MB-received")
	b.ReportMetric(float64(requests.Load()), "requests")
	b.ReportMetric(float64(after.Goroutines-before.Goroutines), "goroutines")
	b.ReportMetric(synced.Seconds(), "s-first-pass")
	cancel()
}
