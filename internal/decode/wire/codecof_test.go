package wire_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/internal/decode/wire"
)

// anyObject is as much of an object as code knows that cannot name its type.
type anyObject interface {
	metav1.Object
	runtime.Object
}

// TestCodecOfAnyType: objects of a type known only at run time are decoded and deduplicated as
// those of a type that the program names, errors included.
func TestCodecOfAnyType(t *testing.T) {
	for _, mediaType := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
		t.Run(mediaType, func(t *testing.T) {
			held := map[string]*corev1.Pod{}
			named, err := wire.NewCodec[*corev1.Pod](mediaType, nil, nil, nil)
			require.NoError(t, err)
			codec, err := wire.NewCodecOf(mediaType, reflect.TypeFor[*corev1.Pod](), func(_, name string) (anyObject, bool) {
				obj, ok := held[name]
				return obj, ok
			}, nil)
			require.NoError(t, err)

			var objects []*corev1.Pod
			for _, name := range []string{"shop-1", "shop-2"} {
				item, err := json.Marshal(pod(name))
				if mediaType == runtime.ContentTypeProtobuf {
					item, err = pod(name).Marshal()
				}
				require.NoError(t, err)
				want, err := named.Item(item)
				require.NoError(t, err)
				obj, err := codec.Item(item)
				require.NoError(t, err)
				assert.Equal(t, want, obj)
				objects = append(objects, obj.(*corev1.Pod))
			}
			assert.Same(t, &objects[0].Spec.Containers[0], &objects[1].Spec.Containers[0], "the parts of two objects")

			held["shop-1"] = objects[0]
			next := pod("shop-1")
			next.ResourceVersion = "8"
			event, err := one(t, codec, eventText(t, mediaType, watch.Modified, next))
			require.NoError(t, err)
			assert.Equal(t, "8", event.Object.GetResourceVersion())
			assert.Equal(t, "Pod", event.Kind.Kind)
			assert.Same(t, &objects[0].Spec.Containers[0], &event.Object.(*corev1.Pod).Spec.Containers[0], "the parts of two states")

			for _, frame := range []string{
				`{"type":"ADDED"}`, `{"type":"ADDED","object":null}`, `{"type":"ADDED","object":{}}`, `{"type":"ADDED","object":7}`, `{`,
				`{"type":"ADDED","object":{"metadata":{"name":"a"},"spec":7}}`, `{"type":"OTHER","object":{"metadata":{"name":"a"}}}`,
				`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}`, `{"type":"ERROR","object":{"message":"gone"}}`,
				`{"object":{"kind":"Pod","metadata":{"name":"a"}},"type":"ADDED"}`,
			} {
				want, wantErr := named.Event([]byte(frame))
				got, err := codec.Event([]byte(frame))
				assert.Equal(t, wantErr == nil, err == nil, "%s: %v, %v", frame, wantErr, err)
				if want.Object == nil {
					assert.Nil(t, got.Object, frame)
				} else {
					assert.Equal(t, want.Object, got.Object, frame)
				}
				assert.Equal(t, want.Type, got.Type, frame)
				assert.Equal(t, want.Kind, got.Kind, frame)
				assert.Equal(t, want.Bookmark, got.Bookmark, frame)
				assert.Equal(t, want.Status, got.Status, frame)
				if assert.Equal(t, want.Invalid == nil, got.Invalid == nil, frame) && want.Invalid != nil {
					assert.Equal(t, want.Invalid.Identity, got.Invalid.Identity, frame)
				}
			}
		})
	}
	_, err := wire.NewCodecOf[anyObject](runtime.ContentTypeJSON, reflect.TypeFor[*struct {
		metav1.ObjectMeta `json:"metadata"`
	}](), nil, nil)
	require.ErrorContains(t, err, "is not a")
}
