package wire

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ownKind is an object that keeps its kind in its own way.
type ownKind struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              corev1.PodSpec `json:"spec"`
	Of                string         `json:"of"`
}

func (o *ownKind) GetObjectKind() schema.ObjectKind { return o }

func (o *ownKind) SetGroupVersionKind(kind schema.GroupVersionKind) { o.Of = kind.Kind }

func (o *ownKind) GroupVersionKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Kind: o.Of}
}

// TestKindsAreSetWhileOthersAreDecoded: sources set the kind of a decoded object while others are
// compared with it. The race detector finds mistakes.
func TestKindsAreSetWhileOthersAreDecoded(t *testing.T) {
	t.Parallel()
	t.Run("protobuf", func(t *testing.T) { setKinds[*corev1.Pod](t, runtime.ContentTypeProtobuf, true) })
	t.Run("JSON", func(t *testing.T) { setKinds[*corev1.Pod](t, runtime.ContentTypeJSON, true) })
	t.Run("a kind of its own", func(t *testing.T) { setKinds[*ownKind](t, runtime.ContentTypeJSON, false) })
}

func setKinds[T interface {
	metav1.Object
	GetObjectKind() schema.ObjectKind
}](t *testing.T, mediaType string, shares bool) {
	t.Helper()
	codec, err := NewCodec(mediaType, nil, func(string, string) (none T, ok bool) { return none, false }, nil)
	require.NoError(t, err)
	var decoding sync.WaitGroup
	all := make([][]T, 4)
	for n := range all {
		decoding.Go(func() {
			for i := range 200 {
				pod := &corev1.Pod{
					TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
					ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprint("shop-", i), Name: fmt.Sprint("web-", n)},
					Spec:       corev1.PodSpec{NodeSelector: map[string]string{"zone": "a"}},
				}
				item, err := json.Marshal(pod)
				if mediaType == runtime.ContentTypeProtobuf {
					item, err = pod.Marshal()
				}
				if !assert.NoError(t, err) {
					return
				}
				obj, err := codec.Item(item)
				if !assert.NoError(t, err) {
					return
				}
				obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Version: "v2", Kind: fmt.Sprint("Kind", n, i)})
				all[n] = append(all[n], obj)
			}
		})
	}
	decoding.Wait()
	for n, objs := range all {
		for i, obj := range objs {
			require.Equal(t, fmt.Sprint("Kind", n, i), obj.GetObjectKind().GroupVersionKind().Kind)
		}
	}
	shared := 0
	for i := range all[0] {
		one, other := selectorOf(all[0][i]), selectorOf(all[1][i])
		delete(one, "zone")
		if len(other) == 0 {
			shared++
		}
	}
	assert.Equal(t, shares, shared > 0, "parts are shared")
}

func selectorOf(obj any) map[string]string {
	switch obj := obj.(type) {
	case *corev1.Pod:
		return obj.Spec.NodeSelector
	default:
		return obj.(*ownKind).Spec.NodeSelector
	}
}
