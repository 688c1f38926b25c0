package typed_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/internal/rig"
)

func pod(change func(*metav1.ObjectMeta)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web-0", UID: "1", ResourceVersion: "1", Generation: 1,
		Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"note": "a"},
	}}
	change(&p.ObjectMeta)
	return p
}

func TestPredicates(t *testing.T) {
	old := pod(func(*metav1.ObjectMeta) {})
	for name, test := range map[string]struct {
		change                                   func(*metav1.ObjectMeta)
		generation, labels, annotations, version bool
	}{
		"nothing":       {change: func(*metav1.ObjectMeta) {}},
		"status":        {change: func(m *metav1.ObjectMeta) { m.ResourceVersion = "2" }, version: true},
		"spec":          {change: func(m *metav1.ObjectMeta) { m.Generation = 2 }, generation: true},
		"an older spec": {change: func(m *metav1.ObjectMeta) { m.Generation = 0 }, generation: true},
		"a label":       {change: func(m *metav1.ObjectMeta) { m.Labels = map[string]string{"app": "db"} }, labels: true},
		"no labels":     {change: func(m *metav1.ObjectMeta) { m.Labels = nil }, labels: true},
		"an annotation": {change: func(m *metav1.ObjectMeta) { m.Annotations = map[string]string{"note": "b"} }, annotations: true},
	} {
		t.Run(name, func(t *testing.T) {
			updated := pod(test.change)
			assert.Equal(t, test.generation, typed.GenerationChanged(old, updated))
			assert.Equal(t, test.labels, typed.LabelsChanged(old, updated))
			assert.Equal(t, test.annotations, typed.AnnotationsChanged(old, updated))
			assert.Equal(t, test.version, typed.ResourceVersionChanged(old, updated))
			assert.False(t, typed.Resynced(old, updated))
		})
	}
	assert.False(t, typed.GenerationChanged(old, old) || typed.LabelsChanged(old, old) ||
		typed.AnnotationsChanged(old, old) || typed.ResourceVersionChanged(old, old))
	assert.True(t, typed.Resynced(old, old))

	uncounted := func() *corev1.ConfigMap { return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}} }
	c := uncounted()
	assert.True(t, typed.GenerationChanged(c, uncounted()), "it cannot be told from the generation")
	assert.False(t, typed.GenerationChanged(c, c))
}

func TestPredicatesTogether(t *testing.T) {
	yes := func(_, _ *rig.Thing) bool { return true }
	no := func(_, _ *rig.Thing) bool { return false }
	for want, predicates := range map[bool][]typed.Predicate[*rig.Thing]{
		true: {
			typed.And[*rig.Thing](), typed.And(yes), typed.And(yes, yes),
			typed.Or(yes), typed.Or(no, yes), typed.Or(yes, no),
			typed.Not(no), typed.Not(typed.And(yes, no)),
		},
		false: {
			typed.And(no), typed.And(yes, no), typed.And(no, yes),
			typed.Or[*rig.Thing](), typed.Or(no, no),
			typed.Not(yes), typed.Not(typed.Or(no, yes)),
		},
	} {
		for i, p := range predicates {
			assert.Equal(t, want, p(rig.At("a", 1), rig.At("a", 2)), i)
		}
	}
	assert.Nil(t, typed.And(yes, nil))
	assert.Nil(t, typed.Or(nil, yes))
	assert.Nil(t, typed.Not[*rig.Thing](nil))
}
