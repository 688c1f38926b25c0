package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/source"
)

// TestPaths: the sink that remembers the last failure loses no report.
func TestPaths(t *testing.T) {
	sinktest.Path[*corev1.Pod, *corev1.Pod]{
		Begin: func(_ *testing.T, to source.Sink[*corev1.Pod]) source.Sink[*corev1.Pod] {
			return &lastReport[*corev1.Pod]{Forwarder: source.Forwarder[*corev1.Pod]{To: to}, arrived: func() {}}
		},
		Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}, Back: func(p *corev1.Pod) *corev1.Pod { return p }, Held: true,
	}.Test(t)
}
