package wire_test

import (
	"bytes"
	"io"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/internal/decode/plan"
	"github.com/kubetyped/informer/internal/decode/wire"
)

// podName is a struct of the user's own.
type podName struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	Metadata   struct {
		Name       string      `json:"name"`
		Namespace  string      `json:"namespace"`
		Generation int64       `json:"generation"`
		Created    metav1.Time `json:"creationTimestamp"`
	} `json:"metadata"`
	Spec *struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
}

var podAPI = &wire.API{Type: reflect.TypeFor[corev1.Pod](), Kind: corev1.SchemeGroupVersion.WithKind("Pod")}

func ownCodec(t *testing.T, mediaType string, mask *plan.Mask) wire.Codec[*podName] {
	t.Helper()
	codec, err := wire.NewCodec[*podName](mediaType, podAPI, nil, mask)
	require.NoError(t, err)
	return codec
}

// TestOwnStructsAreTheSameInBothFormats: events, whose objects have a kind, and items of lists,
// which have none, even where a plan leaves an object to generated code.
func TestOwnStructsAreTheSameInBothFormats(t *testing.T) {
	t.Parallel()
	mask, err := plan.Without("spec")
	require.NoError(t, err)
	unusual := pod("b")
	unusual.Namespace = "\xff"
	for _, mask := range []*plan.Mask{nil, mask} {
		inProtobuf, inJSON := ownCodec(t, runtime.ContentTypeProtobuf, mask), ownCodec(t, runtime.ContentTypeJSON, mask)
		for _, obj := range []*corev1.Pod{pod("a"), unusual} {
			want, err := one(t, inJSON, eventText(t, runtime.ContentTypeJSON, watch.Added, obj))
			require.NoError(t, err)
			got, err := one(t, inProtobuf, eventText(t, runtime.ContentTypeProtobuf, watch.Added, obj))
			require.NoError(t, err)
			assert.Equal(t, want.Object, got.Object)
			assert.Equal(t, "Pod", got.Object.Kind)
			assert.Equal(t, mask == nil, got.Object.Spec != nil)
			assert.Equal(t, podAPI.Kind, got.Kind.GroupVersionKind())
		}
		list := &corev1.PodList{Items: []corev1.Pod{*pod("a"), *unusual}}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
		for i := range list.Items {
			list.Items[i].TypeMeta = metav1.TypeMeta{}
		}
		assert.Equal(t, itemsOf(t, inJSON, runtime.ContentTypeJSON, list), itemsOf(t, inProtobuf, runtime.ContentTypeProtobuf, list))
	}
}

// itemsOf decodes what a list is encoded into.
func itemsOf(t *testing.T, codec wire.Codec[*podName], mediaType string, list runtime.Object) (objects []*podName) {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, infoOf(t, mediaType).Serializer.Encode(list, &text))
	items := codec.Items(&text)
	for {
		item, err := items.Next()
		if err == io.EOF {
			require.Len(t, objects, 2)
			return objects
		}
		require.NoError(t, err)
		obj, err := codec.Item(item)
		require.NoError(t, err)
		objects = append(objects, obj)
	}
}

// TestOwnStructsAreOfOneKind: objects and lists of another kind have fields of the same
// numbers with another meaning.
func TestOwnStructsAreOfOneKind(t *testing.T) {
	t.Parallel()
	codec := ownCodec(t, runtime.ContentTypeProtobuf, nil)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", ResourceVersion: "8"}}
	node.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Node"))
	event, err := one(t, codec, eventText(t, runtime.ContentTypeProtobuf, watch.Modified, node))
	require.NoError(t, err)
	require.NotNil(t, event.Invalid)
	assert.Equal(t, wire.Identity{Name: "n", ResourceVersion: "8"}, event.Invalid.Identity)
	assert.EqualError(t, event.Invalid.Err, `in protobuf, it is a "Node" of "v1", expected a Pod of v1; have the configuration ask for JSON`)

	list := &corev1.NodeList{Items: []corev1.Node{*node}}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NodeList"))
	var text bytes.Buffer
	require.NoError(t, infoOf(t, runtime.ContentTypeProtobuf).Serializer.Encode(list, &text))
	_, err = codec.Items(&text).Next()
	assert.EqualError(t, err, `in protobuf, it is a "NodeList" of "v1", expected a PodList of v1; have the configuration ask for JSON`)
}

// TestMediaTypesOfOwnStructs: protobuf, if all fields can be decoded from it.
func TestMediaTypesOfOwnStructs(t *testing.T) {
	t.Parallel()
	check := func(types []string, err error, want ...string) {
		t.Helper()
		require.NoError(t, err)
		assert.Equal(t, want, types)
	}
	types, err := wire.MediaTypes[*podName](podAPI)
	check(types, err, runtime.ContentTypeProtobuf, runtime.ContentTypeJSON)
	types, err = wire.MediaTypes[*podName](nil)
	check(types, err, runtime.ContentTypeJSON)
	types, err = wire.MediaTypes[*struct {
		Spec struct{ Any any } `json:"spec"`
	}](podAPI)
	check(types, err, runtime.ContentTypeJSON)
	types, err = wire.MediaTypes[*corev1.Node](podAPI)
	check(types, err, runtime.ContentTypeProtobuf, runtime.ContentTypeJSON)
}
