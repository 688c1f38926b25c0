package tracing_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/adapters/tracing"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/source"
)

// TestPaths: nothing of what is reported is lost where it is traced.
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
