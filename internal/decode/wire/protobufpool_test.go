package wire

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestCodecsShareAPool: parts are shared by objects of several codecs, as those of the
// informers of several namespaces are. Parts that other tests decode meanwhile may make
// the pool forget what it has met once, so it is tried again.
func TestCodecsShareAPool(t *testing.T) {
	t.Parallel()
	none := func(string, string) (*corev1.Pod, bool) { return nil, false }
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"},
		Spec:       corev1.PodSpec{Tolerations: []corev1.Toleration{{Key: "of " + t.Name()}}},
	}
	var all []*corev1.Pod // keeps what is shared
	for i := range 1000 {
		pod.Namespace = fmt.Sprint("namespace-", i)
		item, err := pod.Marshal()
		require.NoError(t, err)
		codec, err := NewCodec[*corev1.Pod](runtime.ContentTypeProtobuf, nil, none, nil)
		require.NoError(t, err)
		got, err := codec.Item(item)
		require.NoError(t, err)
		require.Equal(t, pod, got)
		if i > 0 && &got.Spec.Tolerations[0] == &all[i-1].Spec.Tolerations[0] {
			return
		}
		all = append(all, got)
	}
	assert.Fail(t, "nothing is shared")
}
