package wire

import (
	"io"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/kubetyped/informer/internal/decode/jsontree"
	"github.com/kubetyped/informer/internal/decode/parts"
	"github.com/kubetyped/informer/internal/decode/plan"
)

// jsonCodec decodes JSON, by the rules of apimachinery's serializer: names are
// case-sensitive, unknown ones are ignored. It does so by a decoder that deduplicates, or by
// apimachinery's where the first leaves it to that.
type jsonCodec[T any] struct {
	objects jsonObjects[T]
	held    Held[T] // nil: parts are not shared
	// relatives deduplicate objects that are not held; nil: they are not deduplicated.
	relatives *parts.Relatives[T]
	mask      *plan.Mask                // nil: all fields are decoded
	pack      func(obj T, bytes []byte) // nil: objects do not keep their bytes
}

// jsonObjects decode objects of one type.
type jsonObjects[T any] interface {
	// decode decodes an object, and takes parts of like that are the same. It returns false
	// where apimachinery's decoder has to.
	decode(text []byte, like T) (T, bool)
	// decodeAnyway decodes an object by apimachinery's decoder.
	decodeAnyway(text []byte) (T, error)
	// kindOf returns the kind of an object that was decoded, and an error if that has none
	// though it should.
	kindOf(obj T) (metav1.TypeMeta, error)
}

func newJSONCodec[T any](into parts.Pointers[T], held Held[T], mask *plan.Mask) *jsonCodec[T] {
	c := &jsonCodec[T]{held: held, mask: mask}
	_, isUnstructured := any(held).(Held[*unstructured.Unstructured])
	if isUnstructured {
		c.objects = any(unstructuredObjects{jsontree.New(held != nil, mask)}).(jsonObjects[T])
	} else {
		c.objects = newStructObjects(into, mask)
	}
	// The kind of a decoded object is set later: in its TypeMeta, or in the map of an unstructured
	// one, which is always new, unless the object has its own method for that.
	if held != nil && (isUnstructured || !isDeclared(into.Of(), methodGetObjectKind)) {
		c.relatives = parts.NewRelatives(into)
	}
	return c
}

// decode decodes an object. It returns false where apimachinery's decoder has to.
func (c *jsonCodec[T]) decode(object []byte) (T, bool) {
	if c.held == nil {
		return c.objects.decode(object, *new(T))
	}
	namespace, name := keyOfJSON(object)
	if like, ok := c.held(namespace, name); ok {
		return c.objects.decode(object, like)
	}
	if c.relatives == nil {
		return c.objects.decode(object, *new(T))
	}
	return c.relatives.Decode(namespace, name, func(like T) (T, bool) { return c.objects.decode(object, like) })
}

// object decodes an object, by whichever decoder.
func (c *jsonCodec[T]) object(text []byte) (decoded T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicOf[T](p)
		}
	}()
	obj, ok := c.decode(text)
	if !ok {
		if obj, err = c.objects.decodeAnyway(text); err != nil {
			return obj, err
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

// Frames implements Codec.
func (*jsonCodec[T]) Frames(response io.Reader) Frames { return newJSONFrames(response) }

// Items implements Codec.
func (*jsonCodec[T]) Items(response io.Reader) Items { return newJSONItems(response) }

// Item implements Codec. The error is an *ObjectError if the text of the item is JSON.
func (c *jsonCodec[T]) Item(item []byte) (T, error) {
	obj, err := c.object(item)
	if err != nil {
		if id, ok := identifyJSON(item); ok {
			err = &ObjectError{Identity: id, Err: err}
		}
	}
	return obj, err
}

// structObjects are decoded straight into T, by a plan.
type structObjects[T any] struct {
	into parts.Pointers[T]
	// keepsKind says that an object has the kind that its JSON has.
	keepsKind bool
	// structs returns the plan, nil if there can be none. It is made for the first object:
	// next to protobuf, no answer of most servers is in JSON.
	structs func() *jsontree.Structs[T]
}

func newStructObjects[T any](into parts.Pointers[T], mask *plan.Mask) *structObjects[T] {
	return &structObjects[T]{into, keepsKind(into.New()), sync.OnceValue(func() *jsontree.Structs[T] {
		structs, _ := jsontree.NewStructs[T](into.Of(), mask) // with an error it is nil
		return structs
	})}
}

func (o *structObjects[T]) decode(text []byte, like T) (T, bool) {
	if structs := o.structs(); structs != nil {
		return structs.Decode(text, like)
	}
	return *new(T), false
}

func (o *structObjects[T]) decodeAnyway(text []byte) (T, error) {
	obj := o.into.New()
	return obj, json.Unmarshal(text, obj)
}

// kindOf implements jsonObjects. T may have no place for the kind.
func (o *structObjects[T]) kindOf(obj T) (metav1.TypeMeta, error) {
	kind := KindOf(obj)
	if !o.keepsKind {
		return kind, nil
	}
	return kind, checkKind(kind)
}
