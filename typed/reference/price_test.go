package reference_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/reference"
	"github.com/kubetyped/informer/typed/source"
)

var profile = flag.String("price.profile", "", "where BenchmarkName writes a heap profile and the goroutines")

// TestServeApart is the API server of BenchmarkName.
func TestServeApart(t *testing.T) { rig.TestServeApart(t, 0, apitest.WithNamespaceLifecycle()) }

// BenchmarkName is the price of a name that is followed: of the client alone.
func BenchmarkName(b *testing.B) {
	srv := rig.NewServerApart(b)
	for _, names := range []int{200, 1000} {
		b.Run(fmt.Sprintf("proto=http1/names=%d", names), func(b *testing.B) { priceOf(b, srv.HTTP1(), "http1", names) })
		b.Run(fmt.Sprintf("proto=http2/names=%d", names), func(b *testing.B) { priceOf(b, srv.HTTP2(), "http2", names) })
	}
}

func priceOf(b *testing.B, config *rest.Config, proto string, names int) {
	secrets := reference.NewSource[string](func(k index.Key) source.Source[*corev1.Secret] {
		return kube.FromREST[*corev1.Secret](config, kube.WithName(k))
	}, reference.WithLimit(names+1))
	informer := typed.NewInformer(secrets)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- informer.Run(ctx) }()
	_, _, err := reference.Get(ctx, secrets, informer, key("first")) // what all share
	require.NoError(b, err)
	before := rig.UsedNow()
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
	rig.UsedNow().Report(b, before, names, "name")
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
