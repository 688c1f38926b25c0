package view

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// TestChangesThatWaitAreBounded: while a view waits for another input, changes take memory for the
// objects that there are, and that there were when it began, and not for all that came and went.
func TestChangesThatWaitAreBounded(t *testing.T) {
	b := &inbox[*corev1.Pod]{wake: func() {}}
	stays := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "stays"}}
	b.Step([]typed.Event[*corev1.Pod]{{Type: index.Added, New: stays}}, "")
	for range 3 * minPending {
		goes := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "goes"}}
		b.Step([]typed.Event[*corev1.Pod]{{Type: index.Added, New: goes}}, "")
		b.Step([]typed.Event[*corev1.Pod]{{Type: index.Deleted, Old: goes, New: goes}}, "")
	}
	assert.LessOrEqual(t, len(b.pending), minPending+1)
	b.join()
	assert.Equal(t, []pair[*corev1.Pod]{{now: stays}}, b.pending)
}
