package wire

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/internal/jsontree"
	"github.com/kubetyped/informer/internal/layout"
	"github.com/kubetyped/informer/internal/parts"
	"github.com/kubetyped/informer/internal/plan"
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
	into    layout.Pointers[T]
	structs *jsontree.Structs[T] // nil: there can be no plan
	held    Held[T]              // nil: parts are not shared
	// relatives are what objects that are not held share parts with; nil: with none.
	relatives *parts.Relatives[T]
	mask      *plan.Mask // nil: all fields are decoded
}

func newJSONCodec[T any](into layout.Pointers[T], held Held[T], mask *plan.Mask) jsonCodec[T] {
	c := jsonCodec[T]{into: into, held: held, mask: mask}
	c.structs, _ = jsontree.NewStructsOf[T](into.Of(), mask) // with an error it is nil
	// Who decodes sets the kind of an object later, which is in its TypeMeta, unless it has
	// a method of its own for that.
	if held != nil && !isDeclared(into.Of(), methodGetObjectKind) {
		c.relatives = parts.NewRelatives(into)
	}
	return c
}

// decode decodes an object. It returns false where apimachinery's decoder has to.
func (c jsonCodec[T]) decode(object []byte) (T, bool) {
	var none T
	if c.structs == nil {
		return none, false
	}
	if c.held == nil {
		return c.structs.Decode(object, none)
	}
	namespace, name := keyOfJSON(object)
	if like, ok := c.held(namespace, name); ok {
		return c.structs.Decode(object, like)
	}
	if c.relatives == nil {
		return c.structs.Decode(object, none)
	}
	return c.relatives.Decode(namespace, name, func(like T) (T, bool) { return c.structs.Decode(object, like) })
}

// masked returns an object of which nothing has been left out yet.
func (c jsonCodec[T]) masked(obj T) T {
	if c.mask != nil {
		c.mask.Apply(obj)
	}
	return obj
}

// jsonEvent is a metav1.WatchEvent whose object is decoded together with it.
type jsonEvent[O any] struct {
	Type   string `json:"type"`
	Object O      `json:"object"`
}

var errNoObject = errors.New("an event without an object")

// Event implements Codec.
func (c jsonCodec[T]) Event(frame []byte) (decoded Event[T], err error) {
	defer func() {
		if p := recover(); p != nil {
			decoded, err = jsonInvalid[T](frame, panicOf[T](p))
		}
	}()
	if t, object := splitEvent(frame); object != nil && checkType(t) == nil {
		if obj, ok := c.decode(object); ok {
			return Event[T]{Type: t, Object: obj, Kind: KindOf(obj)}, nil
		}
	}
	e := jsonEvent[T]{Object: c.into.New()}
	err = json.Unmarshal(frame, &e)
	if special, ok, err := jsonSpecial[T](e.Type, frame); ok {
		return special, err
	}
	event := Event[T]{Type: watch.EventType(e.Type), Object: e.Object}
	switch {
	case err != nil:
		return jsonInvalid[T](frame, err)
	case c.into.To(e.Object) == nil, isEmpty(e.Object) && !hasObject(frame):
		return Event[T]{}, errNoObject
	}
	event.Kind = KindOf(c.masked(e.Object))
	return event, checkType(event.Type)
}

// isEmpty reports whether an object, which is there, has nothing in it.
func isEmpty(obj any) bool { return reflect.ValueOf(obj).Elem().IsZero() }

// hasObject reports whether an event has any object.
func hasObject(frame []byte) bool {
	var e jsonEvent[stdjson.RawMessage]
	return json.Unmarshal(frame, &e) == nil && len(e.Object) > 0
}

// Item implements Codec.
func (c jsonCodec[T]) Item(item []byte) (decoded T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = jsonItemError(item, panicOf[T](p))
		}
	}()
	if obj, ok := c.decode(item); ok {
		return obj, nil
	}
	obj := c.into.New()
	if err := json.Unmarshal(item, obj); err != nil {
		return obj, jsonItemError(item, err)
	}
	return c.masked(obj), nil
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

// jsonInvalid returns an event that could not be decoded for the given reason, as
// one with an invalid object if the event itself is sound.
func jsonInvalid[T any](frame []byte, cause error) (Event[T], error) {
	var e jsonEvent[stdjson.RawMessage]
	if json.Unmarshal(frame, &e) != nil {
		return Event[T]{}, cause
	}
	if special, ok, err := jsonSpecial[T](e.Type, frame); ok {
		return special, err
	}
	id, _ := identifyJSON(e.Object)
	return invalidEvent[T](watch.EventType(e.Type), &ObjectError{Identity: id, Err: cause})
}

// invalidEvent returns an event whose object cannot be decoded, or what is wrong
// with it, if nobody could tell which object it is about.
func invalidEvent[T any](t watch.EventType, invalid *ObjectError) (Event[T], error) {
	if invalid.Identity.Name == "" {
		return Event[T]{}, invalid.Err
	}
	return Event[T]{Type: t, Invalid: invalid}, checkType(t)
}

// checkType returns an error unless t is the type of an event with an object.
func checkType(t watch.EventType) error {
	switch t {
	case watch.Added, watch.Modified, watch.Deleted:
		return nil
	default:
		return fmt.Errorf("an event of an unknown type of %d bytes", len(t))
	}
}

// jsonSpecial decodes events whose objects are not of type T. It returns false
// for others.
func jsonSpecial[T any](eventType string, frame []byte) (Event[T], bool, error) {
	event := Event[T]{Type: watch.EventType(eventType)}
	switch event.Type {
	case watch.Bookmark:
		var e jsonEvent[*metav1.PartialObjectMetadata]
		if err := json.Unmarshal(frame, &e); err != nil {
			return event, true, err
		}
		if event.Bookmark = e.Object; e.Object == nil {
			return event, true, errNoObject
		}
		return event, true, nil
	case watch.Error:
		var e jsonEvent[*metav1.Status]
		if err := json.Unmarshal(frame, &e); err != nil {
			return event, true, err
		}
		if event.Status = e.Object; e.Object == nil {
			return event, true, errNoObject
		}
		return event, true, nil
	default:
		return event, false, nil
	}
}
