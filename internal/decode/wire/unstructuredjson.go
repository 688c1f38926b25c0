package wire

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/kubetyped/informer/internal/decode/jsontree"
	"github.com/kubetyped/informer/internal/decode/parts"
	"github.com/kubetyped/informer/internal/decode/plan"
)

// unstructuredJSON decodes JSON into the contents of unstructured objects: by a decoder that
// deduplicates, or by apimachinery's where the first leaves it to that.
type unstructuredJSON struct {
	jsonResponse
	decoder *jsontree.Decoder
	held    Held[*unstructured.Unstructured] // nil: parts are not shared
	// relatives deduplicate objects that are not held.
	relatives *parts.Relatives[*unstructured.Unstructured]
	mask      *plan.Mask                                         // nil: all fields are decoded
	pack      func(obj *unstructured.Unstructured, bytes []byte) // nil: objects do not keep their bytes
}

// pointersToUnstructured cannot fail: it is a pointer to a struct.
var pointersToUnstructured, _ = parts.PointersTo[*unstructured.Unstructured](reflect.TypeFor[*unstructured.Unstructured]())

func newUnstructuredJSON(held Held[*unstructured.Unstructured], mask *plan.Mask) *unstructuredJSON {
	c := &unstructuredJSON{decoder: jsontree.New(held != nil, mask), held: held, mask: mask}
	if held != nil {
		c.relatives = parts.NewRelatives(pointersToUnstructured)
	}
	return c
}

// decode decodes an object. It returns false where apimachinery's decoder has to.
func (c *unstructuredJSON) decode(object []byte) (*unstructured.Unstructured, bool) {
	if c.held == nil {
		return c.decodeLike(object, nil)
	}
	namespace, name := keyOfJSON(object)
	if like, ok := c.held(namespace, name); ok {
		return c.decodeLike(object, like)
	}
	return c.relatives.Decode(namespace, name, func(like *unstructured.Unstructured) (*unstructured.Unstructured, bool) {
		return c.decodeLike(object, like)
	})
}

func (c *unstructuredJSON) decodeLike(object []byte, like *unstructured.Unstructured) (*unstructured.Unstructured, bool) {
	var content map[string]any
	if like != nil {
		content = like.Object
	}
	content, ok := c.decoder.Decode(object, content)
	if !ok {
		return nil, false
	}
	return &unstructured.Unstructured{Object: content}, true
}

// object decodes an object, by whichever decoder.
func (c *unstructuredJSON) object(text []byte) (*unstructured.Unstructured, error) {
	obj, ok := c.decode(text)
	if !ok {
		obj = &unstructured.Unstructured{}
		if err := json.Unmarshal(text, &obj.Object); err != nil {
			return nil, err
		}
		if c.mask != nil {
			c.mask.Apply(obj)
		}
	}
	if c.pack != nil {
		c.pack(obj, text)
	}
	return obj, nil
}

// kindOf implements jsonObjects. As apimachinery, it can do without a version.
func (*unstructuredJSON) kindOf(obj *unstructured.Unstructured) (metav1.TypeMeta, error) {
	kind := metav1.TypeMeta{APIVersion: obj.GetAPIVersion(), Kind: obj.GetKind()}
	if kind.Kind == "" {
		return kind, checkKind(kind)
	}
	return kind, nil
}

// Event implements Codec.
func (c *unstructuredJSON) Event(frame []byte) (Event[*unstructured.Unstructured], error) {
	return jsonEvent(frame, c)
}

// Item implements Codec.
func (c *unstructuredJSON) Item(item []byte) (*unstructured.Unstructured, error) {
	obj, err := c.object(item)
	return obj, jsonItemError(item, err)
}
