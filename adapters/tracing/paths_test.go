package tracing_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/adapters/tracing"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/source"
)

// TestPaths: a traced source loses no report.
func TestPaths(t *testing.T) {
	for name, opts := range map[string][]tracing.Option{"all": {tracing.WithSampling(1)}, "few": {tracing.WithSampling(1 << 30)}} {
		t.Run(name, func(t *testing.T) {
			tracer, _ := newTracer(t, opts...)
			sinktest.Path[*corev1.ConfigMap, *corev1.ConfigMap]{
				Begin: sinktest.Over(func(src source.Source[*corev1.ConfigMap]) source.Source[*corev1.ConfigMap] {
					traced, _ := tracing.Source(tracer, src)
					return traced
				}),
				Object: newMap("a", "1"), Back: func(m *corev1.ConfigMap) *corev1.ConfigMap { return m }, Held: true,
			}.Test(t)
		})
	}
}

// TestOmits: a source that is traced leaves out what it does without.
func TestOmits(t *testing.T) {
	sinktest.Omits(t, false, func(src source.Source[*corev1.ConfigMap]) source.Source[*corev1.ConfigMap] {
		tracer, _ := newTracer(t)
		traced, _ := tracing.Source(tracer, src)
		return traced
	})
}

// TestNeeds: a handler that is traced needs the fields that it does without.
func TestNeeds(t *testing.T) {
	tracer, _ := newTracer(t)
	_, events := tracing.Source[*corev1.ConfigMap](tracer, newFeed())
	q, err := queue.NewWorkQueue[index.Key]()
	require.NoError(t, err)
	defer q.ShutDown()
	owners := control.EnqueueOwner[*corev1.ConfigMap](q, schema.GroupKind{Kind: "Node"})
	assert.Equal(t, []string{"metadata.ownerReferences"}, typed.Needs(tracing.Handler(events, owners)))
}

// TestDerives: a traced source leads to its input.
func TestDerives(t *testing.T) {
	sinktest.Derives(t, false, func(src source.Source[*corev1.ConfigMap]) source.Source[*corev1.ConfigMap] {
		tracer, _ := newTracer(t)
		traced, _ := tracing.Source(tracer, src)
		return traced
	})
}
