package fleet_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// podsApart is how many Pods each cluster of BenchmarkCluster has.
const podsApart = 10

// TestServeApart is the API server of BenchmarkCluster, which stands for all clusters.
func TestServeApart(t *testing.T) { rig.TestServeApart(t, podsApart) }

// BenchmarkCluster measures the price of a cluster for the client: an informer of a fleet, and
// the connections with one watch each that no client can do without. Each cluster has its own
// connection.
func BenchmarkCluster(b *testing.B) {
	srv := rig.NewServerApart(b)
	for _, clusters := range []int{100, 1000} {
		b.Run(fmt.Sprintf("clusters=%d/side=connections", clusters), func(b *testing.B) {
			for b.Loop() {
				connectAll(b, srv, clusters)
			}
		})
		b.Run(fmt.Sprintf("clusters=%d/side=fleet", clusters), func(b *testing.B) {
			for b.Loop() {
				followAll(b, srv, clusters)
			}
		})
	}
}

// connectAll opens a watch of each cluster, all at once, and reads its first byte.
func connectAll(b *testing.B, srv rig.ServerApart, clusters int) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	before, begun := rig.UsedNow(), time.Now()
	bodies := make([]io.ReadCloser, clusters)
	var opening errgroup.Group
	for i := range clusters {
		opening.Go(func() (err error) {
			bodies[i], err = watchOf(ctx, srv.Cluster(fmt.Sprint("cluster-", i)))
			return err
		})
	}
	require.NoError(b, opening.Wait())
	b.ReportMetric(time.Since(begun).Seconds(), "s-sync")
	rig.UsedNow().Report(b, before, clusters, "cluster")
	for _, body := range bodies {
		require.NoError(b, body.Close())
	}
}

func watchOf(ctx context.Context, config *rest.Config) (io.ReadCloser, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/api/v1/pods?watch=1", nil)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	_, err = io.ReadFull(res.Body, make([]byte, 1))
	return res.Body, err
}

// followAll syncs the informer of a fleet.
func followAll(b *testing.B, srv rig.ServerApart, clusters int) {
	ctx, cancel := context.WithCancel(b.Context())
	before, begun := rig.UsedNow(), time.Now()
	all := &fleet.Clusters{}
	for i := range clusters {
		name := fmt.Sprint("cluster-", i)
		require.NoError(b, all.Add(fleet.Cluster{Name: name, Config: srv.Cluster(name)}))
	}
	src := fleet.NewSource(all, func(c fleet.Cluster) source.Source[*corev1.Pod] { return kube.FromREST[*corev1.Pod](c.Config) })
	informer := typed.NewInformer(src)
	done := make(chan error, 1)
	go func() { done <- informer.Run(ctx) }()
	require.NoError(b, informer.WaitForSync(ctx))
	require.NoError(b, src.WaitForSync(ctx))
	b.ReportMetric(time.Since(begun).Seconds(), "s-sync")
	require.Equal(b, clusters*podsApart, informer.Len())
	rig.UsedNow().Report(b, before, clusters, "cluster")
	cancel()
	require.NoError(b, <-done)
}
