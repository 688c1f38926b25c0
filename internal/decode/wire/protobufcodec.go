package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/internal/decode/parts"
	"github.com/kubetyped/informer/internal/decode/plan"
)

// protobufCodec decodes protobuf: objects by a plan, or by the generated code of T
// where the plan leaves it to that; a metav1.WatchEvent and the runtime.Unknown
// around each object by hand, since the generated code for those copies the object
// twice.
type protobufCodec[T any] struct {
	into parts.Pointers[T]
	plan func() (*plan.Plan[T], error) // returns an error if there can be none; made for the first object
	of   *API                          // nil: T has generated code
	held Held[T]                       // nil: parts are not shared
	// relatives deduplicate objects that are not held.
	relatives *parts.Relatives[T]
	mask      *plan.Mask                // nil: all fields are decoded
	pack      func(obj T, bytes []byte) // nil: objects do not keep their bytes
	// kind is the last kind seen, to use its strings again.
	kind *atomic.Pointer[metav1.TypeMeta]
}

func newProtobufCodec[T any](into parts.Pointers[T], of *API, held Held[T], mask *plan.Mask) (Codec[T], error) {
	c := &protobufCodec[T]{into: into, of: of, held: held, mask: mask, kind: &atomic.Pointer[metav1.TypeMeta]{}}
	c.kind.Store(&metav1.TypeMeta{})
	if held != nil {
		c.relatives = parts.NewRelatives(into)
	}
	c.plan = sync.OnceValues(func() (*plan.Plan[T], error) {
		pool := poolFor(held != nil, mask)
		if of != nil {
			return plan.From[T](of.Type, pool, mask)
		}
		return plan.New[T](into.Of(), pool, mask)
	})
	if of == nil {
		return c, nil // without a plan, generated code decodes all
	}
	_, err := c.plan()
	return c, err
}

// wholeObjects is the pool of all codecs that decode all fields and deduplicate: plans are made
// once for a type, and parts are shared by all informers of a program. unpooled is that of all
// codecs that decode all fields and do not deduplicate.
var (
	wholeObjects = sync.OnceValue(plan.NewPool)
	unpooled     = sync.OnceValue(func() *plan.Pool { return new(plan.Pool) })
)

// SharedParts returns what the pool of all codecs that decode all fields refers to.
func SharedParts() parts.Usage { return wholeObjects().Usage() }

// poolFor returns the pool of codecs for the fields of mask, which deduplicate or not. Those of a
// mask have one for themselves, since a plan is kept as long as its pool.
func poolFor(deduplicates bool, mask *plan.Mask) *plan.Pool {
	switch {
	case mask != nil && deduplicates:
		return plan.NewPool()
	case mask != nil:
		return new(plan.Pool)
	case deduplicates:
		return wholeObjects()
	default:
		return unpooled()
	}
}

// decode decodes an object.
func (c *protobufCodec[T]) decode(data []byte) (decoded T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &ObjectError{Identity: identifyProtobuf(data), Err: panicOf[T](p)}
		}
	}()
	obj, err := c.unpacked(data)
	if err == nil && c.pack != nil {
		c.pack(obj, data)
	}
	return obj, err
}

// unpacked decodes an object without its bytes.
func (c *protobufCodec[T]) unpacked(data []byte) (T, error) {
	if by, err := c.plan(); err == nil {
		if obj, ok := c.planned(by, data); ok {
			return obj, nil
		}
	}
	obj, err := c.decodeAnyway(data)
	if err != nil {
		return obj, &ObjectError{Identity: identifyProtobuf(data), Err: err}
	}
	if c.mask != nil {
		c.mask.Apply(obj)
	}
	return obj, nil
}

// planned decodes an object by the plan. It returns false where the generated code has
// to decide.
func (c *protobufCodec[T]) planned(by *plan.Plan[T], data []byte) (T, bool) {
	if c.held == nil {
		return by.Decode(data, *new(T))
	}
	namespace, name := keyOf(data)
	if like, ok := c.held(namespace, name); ok {
		return by.Decode(data, like)
	}
	return c.relatives.Decode(namespace, name, func(like T) (T, bool) { return by.DecodeNew(data, like) })
}

// decodeAnyway decodes by generated code.
func (c *protobufCodec[T]) decodeAnyway(data []byte) (T, error) {
	if c.of != nil {
		by, err := c.plan()
		if err != nil {
			return *new(T), err
		}
		return by.DecodeAnyway(data)
	}
	obj := c.into.New()
	return obj, any(obj).(unmarshaler).Unmarshal(data)
}

// Frames implements Codec.
func (*protobufCodec[T]) Frames(response io.Reader) Frames { return newProtobufFrames(response) }

// Items implements Codec.
func (c *protobufCodec[T]) Items(response io.Reader) Items {
	items := newProtobufItems(response)
	if c.of != nil {
		items = checkedItems{items, c.of}
	}
	return items
}

// Event implements Codec.
func (c *protobufCodec[T]) Event(frame []byte) (Event[T], error) {
	var event Event[T]
	var object []byte
	for message := protobufMessage(frame); len(message) > 0; {
		number, value, err := message.known(2)
		if err != nil {
			return event, err
		}
		switch number {
		case 1:
			event.Type = eventType(value)
		case 2:
			if object, err = rawOf(value, object); err != nil {
				return event, err
			}
		}
	}
	if object == nil {
		return event, errNoObject
	}
	raw, kind, err := c.unwrap(object)
	if err != nil {
		return event, err
	}
	event.Kind = kind
	switch event.Type {
	case watch.Bookmark:
		event.Bookmark = &metav1.PartialObjectMetadata{}
		return event, event.Bookmark.Unmarshal(raw) // the metadata is field 1 of all objects
	case watch.Error:
		event.Status = &metav1.Status{}
		return event, event.Status.Unmarshal(raw)
	}
	if err := checkType(event.Type); err != nil {
		return event, err
	}
	return c.object(event, raw)
}

// object returns an event with its object.
func (c *protobufCodec[T]) object(event Event[T], raw []byte) (Event[T], error) {
	err := checkKind(event.Kind)
	if err == nil && c.of != nil {
		err = c.of.check(event.Kind, "")
	}
	if err != nil {
		return invalidEvent[T](event.Type, &ObjectError{Identity: identifyProtobuf(raw), Err: err})
	}
	event.Object, err = c.decode(raw)
	if err != nil {
		if invalid, ok := errors.AsType[*ObjectError](err); ok {
			return invalidEvent[T](event.Type, invalid)
		}
		return event, err
	}
	if c.of != nil {
		by, _ := c.plan() // there is one, or there is no codec
		by.SetKind(event.Object, event.Kind)
	}
	return event, nil
}

// Item implements Codec.
func (c *protobufCodec[T]) Item(item []byte) (T, error) { return c.decode(item) }

// eventType returns the type of an event, without a copy of it if it is known.
func eventType(text []byte) watch.EventType {
	for _, t := range []watch.EventType{watch.Modified, watch.Added, watch.Deleted, watch.Bookmark, watch.Error} {
		if string(text) == string(t) {
			return t
		}
	}
	return watch.EventType(text)
}

// rawOf returns the contents of a runtime.RawExtension, those before if it has none.
func rawOf(extension protobufMessage, before []byte) ([]byte, error) {
	for len(extension) > 0 {
		number, value, err := extension.known(1)
		if err != nil {
			return nil, err
		}
		if number == 1 {
			before = value
		}
	}
	return before, nil
}

// unwrap returns the contents of an object in its runtime.Unknown, and its kind.
func (c *protobufCodec[T]) unwrap(object []byte) (raw []byte, kind metav1.TypeMeta, err error) {
	unknown, ok := bytes.CutPrefix(object, protobufPrefix)
	if !ok {
		return nil, kind, fmt.Errorf("expected an object in protobuf, found %d bytes of something else", len(object))
	}
	raw = []byte{}
	for message := protobufMessage(unknown); len(message) > 0; {
		number, value, err := message.known(4)
		switch {
		case err != nil:
		case number == 1:
			kind, err = c.readKind(value, kind)
		case number == 2:
			raw = value
		case number == 3 && len(value) > 0:
			err = errors.New("the object has an encoding that was not requested")
		}
		if err != nil {
			return nil, kind, err
		}
	}
	return raw, kind, nil
}

// readKind reads a runtime.TypeMeta. Fields that are missing stay as they are.
func (c *protobufCodec[T]) readKind(message protobufMessage, kind metav1.TypeMeta) (metav1.TypeMeta, error) {
	apiVersion, name := []byte(kind.APIVersion), []byte(kind.Kind) // mostly empty
	for len(message) > 0 {
		number, value, err := message.known(2)
		if err != nil {
			return kind, err
		}
		switch number {
		case 1:
			apiVersion = value
		case 2:
			name = value
		}
	}
	last := c.kind.Load()
	if string(apiVersion) != last.APIVersion || string(name) != last.Kind {
		last = &metav1.TypeMeta{APIVersion: string(apiVersion), Kind: string(name)}
		c.kind.Store(last)
	}
	return *last, nil
}

// ItemOfKind does as Item for an object that came with a kind, which is not in its bytes in
// protobuf. A T of the user's own gets it, as that of an event does.
func ItemOfKind[T any](codec Codec[T], item []byte, kind schema.GroupVersionKind) (T, error) {
	obj, err := codec.Item(item)
	if c, ok := codec.(*protobufCodec[T]); ok && err == nil && c.of != nil {
		apiVersion, name := kind.ToAPIVersionAndKind()
		by, _ := c.plan()
		by.SetKind(obj, metav1.TypeMeta{APIVersion: apiVersion, Kind: name})
	}
	return obj, err
}

// ItemLike does as Item of a NewCodec without held, but an object in protobuf refers to the parts
// of like, another state of it, that are equal, and allocates the others alone. The two must not
// be modified then.
func ItemLike[T any](codec Codec[T], item []byte, like T) (T, error) {
	if c, ok := codec.(*protobufCodec[T]); ok && c.held == nil && c.mask == nil && c.of == nil {
		if obj, ok := c.decodeLike(item, like); ok {
			return obj, nil
		}
	}
	return codec.Item(item)
}

// decodeLike returns false where the generated code has to decide, or if a modification of like
// while it was read made that panic.
func (c *protobufCodec[T]) decodeLike(item []byte, like T) (obj T, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	if by, err := c.plan(); err == nil {
		return by.Decode(item, like)
	}
	return obj, false
}
