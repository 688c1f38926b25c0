package wire

import (
	"io"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/kubetyped/informer/internal/decode/jsontree"
	"github.com/kubetyped/informer/internal/decode/parts"
	"github.com/kubetyped/informer/internal/decode/plan"
)

// jsonResponse splits responses in JSON.
type jsonResponse struct{}

// Frames implements Codec.
func (jsonResponse) Frames(response io.Reader) Frames { return newJSONFrames(response) }

// Items implements Codec.
func (jsonResponse) Items(response io.Reader) Items { return newJSONItems(response) }

// jsonCodec decodes JSON straight into T, by the rules of apimachinery's
// serializer: names are case-sensitive, unknown ones are ignored. It does so by a plan,
// or by apimachinery's decoder where the plan leaves it to that.
type jsonCodec[T any] struct {
	jsonResponse
	into parts.Pointers[T]
	// keepsKind says that an object has the kind that its JSON has.
	keepsKind bool
	// structs returns the plan, nil if there can be none. It is made for the first object:
	// next to protobuf, no answer of most servers is in JSON.
	structs func() *jsontree.Structs[T]
	held    Held[T] // nil: parts are not shared
	// relatives deduplicate objects that are not held; nil: they are not deduplicated.
	relatives *parts.Relatives[T]
	mask      *plan.Mask                // nil: all fields are decoded
	pack      func(obj T, bytes []byte) // nil: objects do not keep their bytes
}

func newJSONCodec[T any](into parts.Pointers[T], held Held[T], mask *plan.Mask) *jsonCodec[T] {
	c := &jsonCodec[T]{into: into, keepsKind: keepsKind(into.New()), held: held, mask: mask}
	c.structs = sync.OnceValue(func() *jsontree.Structs[T] {
		structs, _ := jsontree.NewStructsOf[T](into.Of(), mask) // with an error it is nil
		return structs
	})
	// The kind of a decoded object is set later. It is in the object's TypeMeta, unless the
	// object has its own method for that.
	if held != nil && !isDeclared(into.Of(), methodGetObjectKind) {
		c.relatives = parts.NewRelatives(into)
	}
	return c
}

// decode decodes an object. It returns false where apimachinery's decoder has to.
func (c *jsonCodec[T]) decode(object []byte) (T, bool) {
	var none T
	structs := c.structs()
	if structs == nil {
		return none, false
	}
	if c.held == nil {
		return structs.Decode(object, none)
	}
	namespace, name := keyOfJSON(object)
	if like, ok := c.held(namespace, name); ok {
		return structs.Decode(object, like)
	}
	if c.relatives == nil {
		return structs.Decode(object, none)
	}
	return c.relatives.Decode(namespace, name, func(like T) (T, bool) { return structs.Decode(object, like) })
}

// masked returns an object of which nothing has been left out yet.
func (c *jsonCodec[T]) masked(obj T) T {
	if c.mask != nil {
		c.mask.Apply(obj)
	}
	return obj
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
		obj = c.into.New()
		if err := json.Unmarshal(text, obj); err != nil {
			return obj, err
		}
		obj = c.masked(obj)
	}
	if c.pack != nil {
		c.pack(obj, text)
	}
	return obj, nil
}

// kindOf implements jsonObjects. T may have no place for the kind.
func (c *jsonCodec[T]) kindOf(obj T) (metav1.TypeMeta, error) {
	kind := KindOf(obj)
	if !c.keepsKind {
		return kind, nil
	}
	return kind, checkKind(kind)
}

// Event implements Codec.
func (c *jsonCodec[T]) Event(frame []byte) (Event[T], error) { return jsonEvent[T](frame, c) }

// Item implements Codec.
func (c *jsonCodec[T]) Item(item []byte) (T, error) {
	obj, err := c.object(item)
	return obj, jsonItemError(item, err)
}

// jsonItemError returns the error that an item could not be decoded with, as an
// *ObjectError if its text is JSON.
func jsonItemError(item []byte, err error) error {
	if err == nil {
		return nil
	}
	if id, ok := identifyJSON(item); ok {
		return &ObjectError{Identity: id, Err: err}
	}
	return err
}
