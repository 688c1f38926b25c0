package wire_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/internal/decode/plan"
	"github.com/kubetyped/informer/internal/decode/wire"
)

// holding returns a codec that deduplicates unstructured objects in JSON, and the map of held
// objects, by namespace and name, that it reads.
func holding(t testing.TB, mask *plan.Mask) (wire.Codec[*unstructured.Unstructured], map[string]*unstructured.Unstructured) {
	held := map[string]*unstructured.Unstructured{}
	codec, err := wire.NewCodec(runtime.ContentTypeJSON, nil, func(namespace, name string) (*unstructured.Unstructured, bool) {
		obj, ok := held[namespace+"/"+name]
		return obj, ok
	}, mask)
	require.NoError(t, err)
	return codec, held
}

// same reports whether a field of two objects is one map.
func same(a, b *unstructured.Unstructured, field string) bool {
	return reflect.ValueOf(a.Object[field]).Pointer() == reflect.ValueOf(b.Object[field]).Pointer()
}

// TestUnstructuredObjectsShareParts: an event shares what it leaves with the object that
// is held, and an item that is new with one whose name begins alike.
func TestUnstructuredObjectsShareParts(t *testing.T) {
	codec, held := holding(t, nil)
	item := func(name string) []byte {
		text, err := json.Marshal(pod(name))
		require.NoError(t, err)
		return text
	}
	first, err := codec.Item(item("shop-1"))
	require.NoError(t, err)
	relative, err := codec.Item(item("shop-2"))
	require.NoError(t, err)
	assert.True(t, same(first, relative, "spec"))
	assert.False(t, same(first, relative, "metadata"))

	held["default/shop-1"] = first
	next := pod("shop-1")
	next.ResourceVersion = "8"
	event, err := one(t, codec, eventText(t, runtime.ContentTypeJSON, watch.Modified, next))
	require.NoError(t, err)
	assert.Equal(t, "8", event.Object.GetResourceVersion())
	assert.Equal(t, "Pod", event.Kind.Kind)
	assert.True(t, same(first, event.Object, "spec"))
	assert.False(t, same(first, event.Object, "metadata"))
	assert.Equal(t, "7", first.GetResourceVersion())
}

// TestHeldObjectIsAskedFor: whatever the order of its fields, the object that is held is
// found by its name.
func TestHeldObjectIsAskedFor(t *testing.T) {
	for text, want := range map[string]string{
		`{"metadata":{"name":"a","namespace":"b"}}`:                                                    "b a",
		`{"apiVersion":"v1","data":{"metadata":{"name":"x"}},"metadata":{"namespace":"b","name":"a"}}`: "b a",
		` { "spec" : [1, {"name":"x"}] , "metadata" : { "labels" : {"name":"x"} , "name" : "a" } }`:    " a",
		`{"a":-1.5e3,"b":null,"c":"}\"{","metadata":{"generation":1,"name":"a"}}`:                      " a",
		`{"metadata":{"name":"\u0061","namespace":"b"}}`:                                               "b ",
		`{"metadata":{"name":1}}`: " ",
		`{"metadata":null}`:       " ",
		`{"metadata":[]}`:         " ",
		`{"name":"a"}`:            " ",
		`{}`:                      " ",
		`{"metadata":{"name`:      " ",
		`{"metadata"`:             " ",
		`{"metadata":{"name":"`:   " ",
		`nonsense`:                " ",
		``:                        " ",
	} {
		var asked string
		codec, err := wire.NewCodec(runtime.ContentTypeJSON, nil, func(namespace, name string) (*unstructured.Unstructured, bool) {
			asked = strings.Clone(namespace + " " + name)
			return nil, false
		}, nil)
		require.NoError(t, err)
		_, _ = codec.Item([]byte(text))
		assert.Equal(t, want, asked, text)
	}
}

// TestUnusualEvents: what is not written as API servers write it is decoded the same,
// with its errors.
func TestUnusualEvents(t *testing.T) {
	codec, held := holding(t, nil)
	object := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default"},"spec":{"x":1}}`
	want := &unstructured.Unstructured{}
	require.NoError(t, json.Unmarshal([]byte(object), &want.Object))
	want.Object["spec"] = map[string]any{"x": int64(1)}
	for _, frame := range []string{
		`{"type":"ADDED","object":` + object + `}`,
		` { "type" : "ADDED" , "object" : ` + object + ` } `,
		`{"object":` + object + `,"type":"ADDED"}`,
		`{"type":"ADDED","object":` + object + `,"more":1}`,
		`{"type":"\u0041DDED","object":` + object + `}`,
		`{"type":"DELETED","object":` + object + `,"type":"ADDED"}`,
		`{"type":"ADDED","object":{"spec":{"x":2}},"object":` + object + `}`,
	} {
		event, err := codec.Event([]byte(frame))
		require.NoError(t, err, frame)
		assert.Equal(t, watch.Added, event.Type, frame)
		assert.Equal(t, want, event.Object, frame)
		held["default/a"] = event.Object
	}
	for frame, wrong := range map[string]string{
		`{"type":"ADDED","object":null}`:              "an event without an object",
		`{"type":"ADDED"}`:                            "an event without an object",
		`{"type":"OTHER","object":` + object + `}`:    "unknown type of 5 bytes",
		`{"type":"ADDED","object":` + object:          "unexpected end of JSON input",
		`{"type":"ADDED","object":` + object + `}}`:   "invalid character '}' after top-level value",
		`{"type":"ADDED","object":{"metadata":}}`:     "invalid character '}' looking for beginning of value",
		`{"type":"ADDED","object":"` + "a" + `"}`:     "cannot unmarshal string",
		`{"type":"BOOKMARK","object":` + object + `]`: "invalid character ']' after object key:value pair",
	} {
		_, err := codec.Event([]byte(frame))
		assert.ErrorContains(t, err, wrong, frame)
	}
	event, err := codec.Event([]byte(`{"type":"ADDED","object":{"metadata":{"name":"a","namespace":"default"},"spec":1e999}}`))
	require.NoError(t, err)
	assert.Equal(t, wire.Identity{Namespace: "default", Name: "a"}, event.Invalid.Identity)
}

// TestMaskedObjectsShareParts: masked fields are left out of decoded objects, by each decoder, and
// not out of held ones.
func TestMaskedObjectsShareParts(t *testing.T) {
	mask, err := plan.Without("metadata.managedFields", "spec.x")
	require.NoError(t, err)
	codec, held := holding(t, mask)
	object := `{"metadata":{"name":"a","managedFields":[{"manager":"m"}]},"spec":{"x":1,"y":"z"},"status":%s}`
	metadata, spec := map[string]any{"name": "a"}, map[string]any{"y": "z"}
	for _, status := range []string{`"as expected"`, `"half a pair: \ud800"`, `"as expected"`, `"and so on"`} {
		obj, err := codec.Item(fmt.Appendf(nil, object, status))
		require.NoError(t, err)
		assert.Equal(t, metadata, obj.Object["metadata"])
		assert.Equal(t, spec, obj.Object["spec"])
		if last, ok := held["/a"]; ok {
			assert.Equal(t, !strings.Contains(status, "half"), same(last, obj, "spec"))
			assert.Equal(t, spec, last.Object["spec"])
		}
		held["/a"] = obj
	}
}
