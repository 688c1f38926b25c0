package faults

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/e2e/cluster"
	"github.com/kubetyped/informer/e2e/proxy"
)

// TestAPIServer kills the API server, and stops it in good order, while objects
// are written.
func TestAPIServer(t *testing.T) {
	own := server.Cluster(t)
	for _, test := range []struct {
		name  string
		times int
		stop  func() error
	}{
		{"API server killed and started again", 3, own.Kill},
		{"API server stopped and started again", 2, func() error { return nil }}, // Restart does
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScene[*corev1.ConfigMap](t, newConfigMaps(server.Namespace(t)))
			s.watch(server.Config())
			for range test.times {
				s.writes(writeRate)
				require.NoError(t, test.stop())
				require.NoError(t, own.Restart(s.ctx))
			}
			s.writes(writeRate)
			s.finish(test.name, test.times)
		})
	}
}

// TestCompaction makes etcd forget events that watches have yet to receive, while they are held
// up: they cannot continue, and the informers have to list again.
func TestCompaction(t *testing.T) {
	own := server.Cluster(t)
	for _, test := range []struct {
		name    string
		compact func(context.Context) error
	}{
		{"etcd compacted under a paused watch", func(ctx context.Context) error {
			return compact(ctx, own)
		}},
		{"etcd compacted while the API server is down", func(ctx context.Context) error {
			if err := own.Kill(); err != nil {
				return err
			}
			return compact(ctx, own)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, p := broken(t)
			const times = 2
			for range times {
				s.until("both watch", func() bool { return p.Watches("configmaps") == 2 })
				resume := p.HoldWatches("configmaps")
				s.writes(writeRate)
				require.NoError(t, test.compact(s.ctx))
				require.NoError(t, own.Restart(s.ctx))   // its caches would still have the history
				p.CutWatches("configmaps", proxy.Abrupt) // the events to come may be on their way
				resume()
				s.writes(writeRate)
			}
			s.finish(test.name, times)
			for _, o := range s.observers {
				_, relisted := o.stream.Events()
				assert.Positive(t, relisted, "%s has listed again", o.name)
			}
		})
	}
}

func compact(ctx context.Context, c *cluster.Cluster) error {
	_, err := c.Compact(ctx)
	return err
}
