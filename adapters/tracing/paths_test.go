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

// following is a source that reports versions of keys and names that it follows.
type following struct{ *feed }

func (following) At(key index.Key) string { return key.Name + "-7" }

func (following) Followed() source.Followed { return source.Followed{Held: 3, Limit: 4} }

// TestVersionsAndNames: a traced source reports the versions and names of its input, if that
// reports any.
func TestVersionsAndNames(t *testing.T) {
	tracer, _ := newTracer(t)
	traced, _ := tracing.Source[*corev1.ConfigMap](tracer, following{newFeed()})
	assert.Equal(t, "a-7", source.VersionAt(traced, index.Key{Name: "a"}))
	assert.Equal(t, source.Followed{Held: 3, Limit: 4}, typed.NewInformer(traced).Status().Followed)

	plain, _ := tracing.Source[*corev1.ConfigMap](tracer, newFeed())
	assert.Empty(t, source.VersionAt(plain, index.Key{Name: "a"}))
	assert.Zero(t, typed.NewInformer(plain).Status().Followed)
}
