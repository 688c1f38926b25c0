package metrics_test

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/adapters/metrics"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/shard"
	"github.com/kubetyped/informer/typed/source"
)

// scripted is a source that does what a test says.
type scripted struct {
	origin source.Origin
	sinks  chan source.Sink[*corev1.ConfigMap]
}

func newScripted(group, kind string) *scripted {
	return &scripted{
		origin: source.Origin{Kind: schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}},
		sinks:  make(chan source.Sink[*corev1.ConfigMap], 1),
	}
}

func (s *scripted) Origin() source.Origin { return s.origin }

func (s *scripted) Run(ctx context.Context, sink source.Sink[*corev1.ConfigMap]) error {
	s.sinks <- sink
	<-ctx.Done()
	return nil
}

// configMaps returns so many objects.
func configMaps(n int) []*corev1.ConfigMap {
	all := make([]*corev1.ConfigMap, n)
	for i := range all {
		all[i] = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("cm-", i), ResourceVersion: fmt.Sprint(i + 1)}}
	}
	return all
}

// fake is an informer with the status that a test sets.
type fake struct {
	status report.Status
	sizes  []index.IndexSize
	heap   report.Heap
}

func newFake(group, kind, name string) *fake {
	f := &fake{}
	f.status.Name, f.status.Phase = name, report.PhaseSynced
	f.status.Origin.Kind = schema.GroupVersionKind{Group: group, Kind: kind}
	return f
}

func (f *fake) Name() string                         { return f.status.Name }
func (f *fake) Status() report.Status                { return f.status }
func (f *fake) EstimateHeap(int) report.Heap         { return f.heap }
func (f *fake) IndexSizes() []index.IndexSize        { return f.sizes }
func (f *fake) Explain(index.Key) report.Key         { return report.Key{} }
func (f *fake) ObjectJSON(index.Key) ([]byte, error) { return nil, nil }

// member is a group with the status that a test sets.
type member struct {
	name   string
	status shard.Status
}

func (m *member) Name() string         { return m.name }
func (m *member) Status() shard.Status { return m.status }

// clusters is a fleet with the status that a test sets.
type clusters struct{ status []fleet.ClusterStatus }

func (c *clusters) Status() []fleet.ClusterStatus { return c.status }

// answered is own writes that return the status of a test.
type answered struct{ status report.Writes }

func (a *answered) Status() report.Writes { return a.status }

// newMetrics returns Metrics in a registry that checks the metrics it collects.
func newMetrics(t require.TestingT, opts ...metrics.Option) (*prometheus.Registry, *metrics.Metrics) {
	r := prometheus.NewPedanticRegistry()
	m, err := metrics.New(r, opts...)
	require.NoError(t, err)
	return r, m
}

// samples are values by name and labels, such as `depth{name="pods"}`; of histograms, by
// name with _count and _sum.
type samples map[string]float64

// gather returns what a registry has.
func gather(t require.TestingT, r prometheus.Gatherer) samples {
	families, err := r.Gather()
	require.NoError(t, err)
	all := samples{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			l := labelsOf(m)
			if h := m.GetHistogram(); h != nil {
				all[f.GetName()+"_count"+l] = float64(h.GetSampleCount())
				all[f.GetName()+"_sum"+l] = h.GetSampleSum()
				continue
			}
			all[f.GetName()+l] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return all
}

func labelsOf(m *dto.Metric) string {
	var l []string
	for _, p := range m.GetLabel() {
		l = append(l, fmt.Sprintf("%s=%q", p.GetName(), p.GetValue()))
	}
	sort.Strings(l)
	if len(l) == 0 {
		return ""
	}
	return "{" + strings.Join(l, ",") + "}"
}
