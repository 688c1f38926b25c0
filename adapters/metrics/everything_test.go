package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/adapters/metrics"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/shard"
	"github.com/kubetyped/informer/typed/source"
)

// everything returns the families of a registry in which each metric has a value.
func everything(t *testing.T) []*dto.MetricFamily {
	var families []*dto.MetricFamily
	withEverything(t, func(r *prometheus.Registry) {
		var err error
		families, err = r.Gather()
		require.NoError(t, err)
	})
	return families
}

func withEverything(t *testing.T, look func(r *prometheus.Registry)) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		f := newFake("apps", "Deployment", "deployments")
		f.status.LastContact, f.status.LastEvent = now, now
		f.status.Failures, f.status.Since = 1, now
		f.status.Budget = report.Budget{Bytes: 100, HeapBytes: 50, Used: 0.5}
		f.status.FactoryBudget = report.Budget{Objects: 100, Used: 0.7}
		f.status.Handlers = []report.Handler{{Name: "h", Times: &report.CallTimes{}}}
		f.status.Followed = source.Followed{Held: 1, Limit: 1000, Present: 1, LiveReads: 3}
		f.sizes = []index.IndexSize{{Name: "name"}}
		f.heap.Packed = report.Packed{Objects: 2, Bytes: 20, Raw: 100, Bases: 1, Decoded: 3, Decoding: time.Second}
		e, err := control.NewExpectations(control.AdderFunc[string](func(string) {}))
		require.NoError(t, err)
		g := &member{"pods", shard.Status{Renewed: now}}
		fl := &clusters{[]fleet.ClusterStatus{{Cluster: "east", Failures: 1, Since: now, LastContact: now}}}
		r, m := newMetrics(t, metrics.WithInformers(f), metrics.WithIndexSizes(), metrics.WithInformerNames(), metrics.WithHandlerNames(), metrics.WithClusterNames(),
			metrics.WithExpectations("pods", e), metrics.WithGroups(g), metrics.WithFleet("pods", fl),
			metrics.WithWrites(&answered{report.Writes{LeftOut: map[string]uint64{"failed": 1}}}))
		q, err := queue.NewWorkQueue[string](queue.WithName("pods"), queue.WithMetrics(m))
		require.NoError(t, err)
		require.NoError(t, m.Add(metrics.WithQueues(q)))
		ctx, cancel := context.WithCancel(t.Context())
		q.Add("fails")
		ended := make(chan error)
		go func() { ended <- q.Run(ctx, 1, func(context.Context, string) error { return errors.New("broken") }) }()
		synctest.Wait()
		look(r)
		cancel()
		require.NoError(t, <-ended)
	})
}

// docs is the folder of the project's documents.
var docs = filepath.Join("..", "..", "docs")

// TestTable holds docs/reference/metrics.md to the code: each metric has its line there, and each
// line its metric.
func TestTable(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(docs, "reference", "metrics.md"))
	require.NoError(t, err)
	var have, want []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| `") {
			have = append(have, strings.TrimSpace(line))
		}
	}
	for _, f := range everything(t) {
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+l.GetName()+"`")
		}
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s |", f.GetName(), strings.ToLower(f.GetType().String()), strings.Join(labels, ", "), f.GetHelp()))
	}
	assert.ElementsMatch(t, want, have, "the lines are:\n%s", strings.Join(want, "\n"))
}

// TestFamiliesOfOpenMetrics: a counter is of the family of its name without _total there, so no other
// metric may be called that.
func TestFamiliesOfOpenMetrics(t *testing.T) {
	of := map[string]string{}
	for _, f := range everything(t) {
		family := strings.TrimSuffix(f.GetName(), "_total")
		assert.Empty(t, of[family], f.GetName())
		of[family] = f.GetName()
	}
	assert.NotEmpty(t, of)
}

// TestLint holds names, units and help to the conventions of Prometheus.
func TestLint(t *testing.T) {
	withEverything(t, func(r *prometheus.Registry) {
		problems, err := testutil.GatherAndLint(r)
		require.NoError(t, err)
		assert.Empty(t, problems)
	})
}
