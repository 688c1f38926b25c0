package deepcopy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubetyped/informer/internal/deepcopy"
)

func TestOf(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}}
	own, err := deepcopy.Of[*corev1.Pod]()
	require.NoError(t, err)
	copied := own(pod)
	copied.Labels["a"] = "c"
	assert.Equal(t, "b", pod.Labels["a"])

	any, err := deepcopy.Of[runtime.Object]()
	require.NoError(t, err)
	assert.Equal(t, pod, any(pod))
	assert.NotSame(t, pod, any(pod))

	type value struct {
		name  string
		ports [2]int
	}
	same, err := deepcopy.Of[value]()
	require.NoError(t, err)
	assert.Equal(t, value{"a", [2]int{1, 2}}, same(value{"a", [2]int{1, 2}}))

	_, err = deepcopy.Of[*value]()
	assert.ErrorContains(t, err, "has no method DeepCopy")
	_, err = deepcopy.Of[struct{ labels map[string]string }]()
	assert.Error(t, err)
	_, err = deepcopy.Of[metav1.Object]()
	assert.Error(t, err)
	_, err = deepcopy.Of[*struct{ corev1.Pod }]()
	assert.Error(t, err, "its method returns a Pod")
}
