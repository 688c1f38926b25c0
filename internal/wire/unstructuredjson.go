package wire

import (
	"bytes"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/internal/jsontree"
	"github.com/kubetyped/informer/internal/layout"
	"github.com/kubetyped/informer/internal/parts"
	"github.com/kubetyped/informer/internal/plan"
)

// unstructuredJSON decodes JSON into the contents of unstructured objects: by a decoder
// that shares parts, or by apimachinery's where that one leaves it to it.
type unstructuredJSON struct {
	jsonResponse
	decoder *jsontree.Decoder
	held    Held[*unstructured.Unstructured] // nil: parts are not shared
	// relatives are what objects that are not held share parts with.
	relatives *parts.Relatives[*unstructured.Unstructured]
	mask      *plan.Mask // nil: all fields are decoded
}

// pointersToUnstructured cannot fail: it is a pointer to a struct.
var pointersToUnstructured, _ = layout.PointersTo[*unstructured.Unstructured](reflect.TypeFor[*unstructured.Unstructured]())

func newUnstructuredJSON(held Held[*unstructured.Unstructured], mask *plan.Mask) unstructuredJSON {
	c := unstructuredJSON{decoder: jsontree.New(held != nil, mask), held: held, mask: mask}
	if held != nil {
		c.relatives = parts.NewRelatives(pointersToUnstructured)
	}
	return c
}

// decode decodes an object. It returns false where apimachinery's decoder has to.
func (c unstructuredJSON) decode(object []byte) (*unstructured.Unstructured, bool) {
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

func (c unstructuredJSON) decodeLike(object []byte, like *unstructured.Unstructured) (*unstructured.Unstructured, bool) {
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

// masked returns an object of which nothing has been left out yet.
func (c unstructuredJSON) masked(content map[string]any) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: content}
	if c.mask != nil {
		c.mask.Apply(obj)
	}
	return obj
}

// Event implements Codec.
func (c unstructuredJSON) Event(frame []byte) (Event[*unstructured.Unstructured], error) {
	if t, object := splitEvent(frame); object != nil && checkType(t) == nil {
		if obj, ok := c.decode(object); ok {
			return unstructuredEvent(t, obj), nil
		}
	}
	var e jsonEvent[map[string]any]
	err := json.Unmarshal(frame, &e)
	if special, ok, err := jsonSpecial[*unstructured.Unstructured](e.Type, frame); ok {
		return special, err
	}
	switch {
	case err != nil:
		return jsonInvalid[*unstructured.Unstructured](frame, err)
	case e.Object == nil:
		return Event[*unstructured.Unstructured]{}, errNoObject
	}
	t := watch.EventType(e.Type)
	return unstructuredEvent(t, c.masked(e.Object)), checkType(t)
}

// splitEvent returns the type and the object of an event that is written as API servers
// write it: the type, the object, and nothing else. The object may be anything.
func splitEvent(frame []byte) (watch.EventType, []byte) {
	rest, isEvent := bytes.CutPrefix(bytes.TrimRight(frame, " \t\r\n"), []byte(`{"type":"`))
	if !isEvent {
		return "", nil
	}
	t, rest, isObject := bytes.Cut(rest, []byte(`","object":`))
	rest, ends := bytes.CutSuffix(rest, []byte("}"))
	if !isObject || !ends {
		return "", nil
	}
	return eventType(t), rest
}

// Item implements Codec.
func (c unstructuredJSON) Item(item []byte) (*unstructured.Unstructured, error) {
	if obj, ok := c.decode(item); ok {
		return obj, nil
	}
	var content map[string]any
	if err := json.Unmarshal(item, &content); err != nil {
		return nil, jsonItemError(item, err)
	}
	return c.masked(content), nil
}

func unstructuredEvent(t watch.EventType, obj *unstructured.Unstructured) Event[*unstructured.Unstructured] {
	return Event[*unstructured.Unstructured]{
		Type: t, Object: obj, Kind: metav1.TypeMeta{APIVersion: obj.GetAPIVersion(), Kind: obj.GetKind()},
	}
}
