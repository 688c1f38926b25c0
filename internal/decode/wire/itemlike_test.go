package wire_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubetyped/informer/internal/decode/wire"
	"github.com/kubetyped/informer/internal/test/pods"
)

// TestItemLikeIsItem: whatever the other object is, and whatever a program has done to it, the object
// is the one of its bytes, and the other one stays as it was.
func TestItemLikeIsItem(t *testing.T) {
	codec := codecOf[*corev1.Pod](t, runtime.ContentTypeProtobuf)
	cluster := pods.Cluster{PerApp: 5, Namespaces: []string{"a", "b"}, Nodes: 20}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 400 {
		text, err := cluster.Pod(r.IntN(20), r.IntN(4)).Marshal()
		require.NoError(t, err)
		want, err := codec.Item(text)
		require.NoError(t, err)
		like := cluster.Pod(r.IntN(20), r.IntN(4))
		switch i % 8 {
		case 1:
			like.Spec.Containers = nil
		case 2:
			like.Labels["app"], like.Spec.Containers[0].Image = "evil", "evil:1"
		case 3:
			like.Spec.Containers = append(like.Spec.Containers, corev1.Container{})
			like.Spec.Containers[0].LivenessProbe, like.Spec.SecurityContext = nil, nil
		case 4:
			like = &corev1.Pod{}
		case 5:
			like = nil
		}
		before := like.DeepCopy()
		got, err := wire.ItemLike(codec, text, like)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, before, like)
	}
	_, err := wire.ItemLike(codec, []byte{0xff}, &corev1.Pod{})
	assert.ErrorAs(t, err, new(*wire.ObjectError), "as Item")
}

// TestItemLikeTakesNoMoreThanDiffers: an earlier state of a Pod takes a quarter of the allocations.
func TestItemLikeTakesNoMoreThanDiffers(t *testing.T) {
	codec := codecOf[*corev1.Pod](t, runtime.ContentTypeProtobuf)
	cluster := pods.Cluster{PerApp: 5, Namespaces: []string{"a"}, Nodes: 20}
	text, err := cluster.Pod(3, 1).Marshal()
	require.NoError(t, err)
	later := cluster.Pod(3, 2)
	alone := testing.AllocsPerRun(100, func() { _, _ = codec.Item(text) })
	like := testing.AllocsPerRun(100, func() { _, _ = wire.ItemLike(codec, text, later) })
	assert.Less(t, like, alone/4)
	pod, err := wire.ItemLike(codec, text, later)
	require.NoError(t, err)
	assert.Same(t, &later.Spec.Volumes[0], &pod.Spec.Volumes[0], "it shares what is equal")
}

// TestItemLikeOfOtherFormats is Item.
func TestItemLikeOfOtherFormats(t *testing.T) {
	codec := codecOf[*unstructured.Unstructured](t, runtime.ContentTypeJSON)
	text := []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"a":"b"}}}`)
	want, err := codec.Item(text)
	require.NoError(t, err)
	got, err := wire.ItemLike(codec, text, want)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	got.SetLabels(map[string]string{"a": "c"})
	assert.Equal(t, "b", want.GetLabels()["a"])
}

func BenchmarkItemLike(b *testing.B) {
	codec := codecOf[*corev1.Pod](b, runtime.ContentTypeProtobuf)
	cluster := pods.Cluster{PerApp: 50, Namespaces: []string{"a"}, Nodes: 20}
	text, err := cluster.Pod(3, 1).Marshal()
	require.NoError(b, err)
	for name, like := range map[string]*corev1.Pod{"alone": nil, "later": cluster.Pod(3, 2)} {
		b.Run("like="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if like == nil {
					_, err = codec.Item(text)
				} else {
					_, err = wire.ItemLike(codec, text, like)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
