package metrics_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/adapters/metrics"
	"github.com/kubetyped/informer/queue"
)

// TestResults counts what becomes of keys, and failures of an informer that are over.
func TestResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("", "Pod", "pods")
		f.status.Failed = 7
		r, m := newMetrics(t, metrics.WithInformers(f))
		q, err := queue.NewWorkQueue[string](queue.WithName("pods"))
		require.NoError(t, err)
		require.NoError(t, m.Add(metrics.WithQueues(q)))
		results := map[string]error{
			"a": nil, "b": nil, "c": queue.RequeueAfter(time.Hour), "d": queue.TerminalError(errors.New("broken")), "e": errors.New("broken"),
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- q.Run(ctx, 2, func(_ context.Context, key string) error { return results[key] }) }()
		for key := range results {
			q.Add(key)
		}
		synctest.Wait()
		families, err := r.Gather()
		require.NoError(t, err)
		counts := map[string]float64{}
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				switch family.GetName() {
				case "kubetyped_queue_reconciles_total":
					counts[metric.GetLabel()[1].GetValue()] = metric.GetCounter().GetValue()
				case "kubetyped_informer_failures_total":
					counts["list or watch"] = metric.GetCounter().GetValue()
				}
			}
		}
		assert.Equal(t, map[string]float64{"success": 2, "requeue": 1, "terminal": 1, "error": 1, "list or watch": 7}, counts)
		cancel()
		require.NoError(t, <-ended)
	})
}

// TestKindOfOwnStructs is that of API types of the resource.
func TestKindOfOwnStructs(t *testing.T) {
	for resource, kind := range map[schema.GroupVersionResource]string{
		{Version: "v1", Resource: "pods"}:                                        "Pod",
		{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"}:       "Ingress",
		{Version: "v1", Resource: "endpoints"}:                                   "Endpoints",
		{Group: "example.com", Version: "v1", Resource: "tunnels"}:               "tunnels",
		{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"}: "NetworkPolicy",
	} {
		f := newFake("", "", "own")
		f.status.Origin.Kind, f.status.Origin.Resource = schema.GroupVersionKind{}, resource
		r, _ := newMetrics(t, metrics.WithInformers(f))
		families, err := r.Gather()
		require.NoError(t, err)
		for _, family := range families {
			if family.GetName() == "kubetyped_informer_objects" {
				assert.Equal(t, kind, family.GetMetric()[0].GetLabel()[1].GetValue(), resource)
			}
		}
	}
}
