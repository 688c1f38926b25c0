package control_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed/control"
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
			assert.Equal(t, test.generation, control.GenerationChanged(old, updated))
			assert.Equal(t, test.labels, control.LabelsChanged(old, updated))
			assert.Equal(t, test.annotations, control.AnnotationsChanged(old, updated))
			assert.Equal(t, test.version, control.ResourceVersionChanged(old, updated))
			assert.False(t, control.Resynced(old, updated))
		})
	}
	assert.False(t, control.GenerationChanged(old, old) || control.LabelsChanged(old, old) ||
		control.AnnotationsChanged(old, old) || control.ResourceVersionChanged(old, old))
	assert.True(t, control.Resynced(old, old))

	uncounted := func() *corev1.ConfigMap { return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}} }
	c := uncounted()
	assert.True(t, control.GenerationChanged(c, uncounted()), "it cannot be told from the generation")
	assert.False(t, control.GenerationChanged(c, c))
}

func TestPredicatesTogether(t *testing.T) {
	yes := func(_, _ *rig.Thing) bool { return true }
	no := func(_, _ *rig.Thing) bool { return false }
	for want, predicates := range map[bool][]control.Predicate[*rig.Thing]{
		true: {
			control.And[*rig.Thing](), control.And(yes), control.And(yes, yes),
			control.Or(yes), control.Or(no, yes), control.Or(yes, no),
			control.Not(no), control.Not(control.And(yes, no)),
		},
		false: {
			control.And(no), control.And(yes, no), control.And(no, yes),
			control.Or[*rig.Thing](), control.Or(no, no),
			control.Not(yes), control.Not(control.Or(no, yes)),
		},
	} {
		for i, p := range predicates {
			assert.Equal(t, want, p(rig.At("a", 1), rig.At("a", 2)), i)
		}
	}
	assert.Nil(t, control.And(yes, nil))
	assert.Nil(t, control.Or(nil, yes))
	assert.Nil(t, control.Not[*rig.Thing](nil))
}
