package metrics_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/adapters/metrics"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/report"
)

// TestWrites reads the metrics of own writes to two servers, which have common series, each
// Writes once however often it was added.
func TestWrites(t *testing.T) {
	east := &answered{report.Writes{Taken: 7, Ignored: 3, Late: 1, LeftOut: map[string]uint64{"failed": 5}}}
	west := &answered{report.Writes{Taken: 1}}
	r, m := newMetrics(t, metrics.WithWrites(east, west, east))
	require.NoError(t, m.Add(metrics.WithWrites(east)))
	want := samples{
		"kubetyped_own_writes_taken_total": 8, "kubetyped_own_writes_ignored_total": 3, "kubetyped_own_writes_late_total": 1,
		`kubetyped_own_writes_left_out_total{reason="failed"}`: 5,
	}
	got := gather(t, r)
	assert.Subset(t, got, want)
	assert.NotContains(t, got, `kubetyped_own_writes_left_out_total{reason="selector"}`)

	east.status.Taken, east.status.LeftOut["selector"] = 9, 2
	want["kubetyped_own_writes_taken_total"], want[`kubetyped_own_writes_left_out_total{reason="selector"}`] = 10, 2
	assert.Subset(t, gather(t, r), want)

	_, err := metrics.New(r, metrics.WithWrites(nil))
	assert.ErrorContains(t, err, "Writes is nil")
}

var _ metrics.Writes = (*kube.Writes)(nil)
