package wire_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/internal/decode/plan"
	"github.com/kubetyped/informer/internal/decode/wire"
)

// TestTypedObjectsInJSONShareParts: an event shares what it leaves with the object that
// is held, and an item that is new with one whose name begins alike.
func TestTypedObjectsInJSONShareParts(t *testing.T) {
	held := map[string]*corev1.Pod{}
	codec, err := wire.NewCodec(runtime.ContentTypeJSON, nil, func(namespace, name string) (*corev1.Pod, bool) {
		obj, ok := held[namespace+"/"+name]
		return obj, ok
	}, nil)
	require.NoError(t, err)
	item := func(name string) *corev1.Pod {
		text, err := json.Marshal(pod(name))
		require.NoError(t, err)
		obj, err := codec.Item(text)
		require.NoError(t, err)
		require.Equal(t, pod(name), obj)
		return obj
	}
	first, relative := item("shop-1"), item("shop-2")
	assert.Same(t, &first.Spec.Containers[0], &relative.Spec.Containers[0])

	held["default/shop-1"] = first
	next := pod("shop-1")
	next.ResourceVersion = "8"
	event, err := one(t, codec, eventText(t, runtime.ContentTypeJSON, watch.Modified, next))
	require.NoError(t, err)
	assert.Equal(t, next, event.Object)
	assert.Equal(t, "Pod", event.Kind.Kind)
	assert.Same(t, &first.Spec.Containers[0], &event.Object.Spec.Containers[0])
	assert.Equal(t, "7", first.ResourceVersion)
}

// TestMaskedTypedObjectsInJSON: masked fields are left out of decoded objects, by each decoder, and
// not out of held ones.
func TestMaskedTypedObjectsInJSON(t *testing.T) {
	mask, err := plan.Without("metadata.managedFields", "spec.containers.args")
	require.NoError(t, err)
	var held *corev1.Pod
	codec, err := wire.NewCodec(runtime.ContentTypeJSON, nil, func(string, string) (*corev1.Pod, bool) { return held, held != nil }, mask)
	require.NoError(t, err)
	object := `{"metadata":{"name":"a","managedFields":[{"manager":"m"}]},"spec":{"containers":[{"name":"c","args":["x"]}]},"status":{"message":"%s"}}`
	for _, message := range []string{"as expected", `half a pair: \ud800`, "as expected", "and so on"} {
		obj, err := codec.Item(fmt.Appendf(nil, object, message))
		require.NoError(t, err)
		assert.Empty(t, obj.ManagedFields)
		assert.Equal(t, []corev1.Container{{Name: "c"}}, obj.Spec.Containers)
		held = obj
	}
}
