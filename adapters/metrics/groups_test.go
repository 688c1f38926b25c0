package metrics_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/adapters/metrics"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/shard"
)

// TestGroup reads the metrics of a member of a group, that one lost everything of, and of
// one that may not work.
func TestGroup(t *testing.T) {
	const l = `{name="pods"}`
	renewed := time.Unix(1000, 0)
	g := &member{"pods", shard.Status{Members: []string{"a", "b"}, Ranges: 120, Wanted: 8, Leaving: 3, Calls: 5, Valid: true, Renewed: renewed, Lost: 1, Lapsed: 2, Edited: 4, Overlaps: 6}}
	r, m := newMetrics(t, metrics.WithGroups(g, g))
	require.NoError(t, m.Add(metrics.WithGroups(g)))
	want := samples{
		"kubetyped_shard_members" + l: 2, "kubetyped_shard_ranges" + l: 120, "kubetyped_shard_wanted_ranges" + l: 8, "kubetyped_shard_leaving_ranges" + l: 3,
		"kubetyped_shard_calls" + l: 5, "kubetyped_shard_valid" + l: 1, "kubetyped_shard_failing" + l: 0, "kubetyped_shard_lost_total" + l: 1,
		"kubetyped_shard_renewed_timestamp_seconds" + l: 1000, "kubetyped_shard_lapsed_total" + l: 2, "kubetyped_shard_edited_total" + l: 4, "kubetyped_shard_overlaps_total" + l: 6,
	}
	assert.Subset(t, gather(t, r), want)

	g.status.Valid, g.status.Err, g.status.Lost = false, errors.New("forbidden"), 3
	want["kubetyped_shard_valid"+l], want["kubetyped_shard_failing"+l], want["kubetyped_shard_lost_total"+l] = 0, 1, 3
	assert.Subset(t, gather(t, r), want)
}

// TestFleet reads the metrics of clusters: one that works, one that fails, one that has
// failed for good; together, and each alone.
func TestFleet(t *testing.T) {
	f := &clusters{[]fleet.ClusterStatus{
		{Cluster: "east", Phase: fleet.PhaseSynced, Objects: 10, LastContact: time.Unix(2000, 0)},
		{Cluster: "north", Phase: fleet.PhaseStale, Objects: 5, Failures: 3, Since: time.Unix(1500, 0), LastContact: time.Unix(1400, 0), Err: errors.New("refused")},
		{Cluster: "west", Phase: fleet.PhaseFailed, Err: errors.New("gone")},
	}}
	together, m := newMetrics(t, metrics.WithFleet("pods", f), metrics.WithFleet("pods", f))
	require.NoError(t, m.Add(metrics.WithFleet("pods", f)))
	const l = `{name="pods"}`
	assert.Subset(t, gather(t, together), samples{
		`kubetyped_fleet_clusters{name="pods",phase="Synced"}`: 1, `kubetyped_fleet_clusters{name="pods",phase="Stale"}`: 1,
		`kubetyped_fleet_clusters{name="pods",phase="Failed"}`: 1, `kubetyped_fleet_clusters{name="pods",phase="Listing"}`: 0,
		"kubetyped_fleet_objects" + l: 15, "kubetyped_fleet_failing_clusters" + l: 2, "kubetyped_fleet_failures" + l: 3,
		"kubetyped_fleet_first_failure_timestamp_seconds" + l: 1500, "kubetyped_fleet_last_contact_timestamp_seconds" + l: 1400,
	})
	alone, _ := newMetrics(t, metrics.WithFleet("pods", f), metrics.WithClusterNames())
	got := gather(t, alone)
	assert.Subset(t, got, samples{
		`kubetyped_fleet_clusters{cluster="north",name="pods",phase="Stale"}`: 1, `kubetyped_fleet_objects{cluster="east",name="pods"}`: 10,
		`kubetyped_fleet_failing_clusters{cluster="east",name="pods"}`: 0, `kubetyped_fleet_failing_clusters{cluster="west",name="pods"}`: 1,
		`kubetyped_fleet_last_contact_timestamp_seconds{cluster="north",name="pods"}`: 1400,
	})
	assert.NotContains(t, got, `kubetyped_fleet_first_failure_timestamp_seconds{cluster="east",name="pods"}`, "it does not fail")

	f.status = nil
	assert.Contains(t, gather(t, together), `kubetyped_fleet_clusters{name="pods",phase="Synced"}`, "that there is none is told")
	assert.NotContains(t, gather(t, together), "kubetyped_fleet_objects"+l)
}

var (
	_ metrics.Group = (*shard.Group)(nil)
	_ metrics.Fleet = (*fleet.Source[*corev1.Pod])(nil)
)
