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
)

// jsonResponse splits responses in JSON.
type jsonResponse struct{}

// Frames implements Codec.
func (jsonResponse) Frames(response io.Reader) Frames { return newJSONFrames(response) }

// Items implements Codec.
func (jsonResponse) Items(response io.Reader) Items { return newJSONItems(response) }

// jsonCodec decodes JSON straight into T, by the rules of apimachinery's
// serializer: names are case-sensitive, unknown ones are ignored.
type jsonCodec[T any] struct{ jsonResponse }

// jsonEvent is a metav1.WatchEvent whose object is decoded together with it.
type jsonEvent[O any] struct {
	Type   string `json:"type"`
	Object O      `json:"object"`
}

var errNoObject = errors.New("an event without an object")

// Event implements Codec.
func (jsonCodec[T]) Event(frame []byte) (Event[T], error) {
	var e jsonEvent[T]
	err := json.Unmarshal(frame, &e)
	if special, ok, err := jsonSpecial[T](e.Type, frame); ok {
		return special, err
	}
	event := Event[T]{Type: watch.EventType(e.Type), Object: e.Object}
	switch {
	case err != nil:
		return jsonInvalid[T](frame, err)
	case reflect.ValueOf(e.Object).IsNil():
		return Event[T]{}, errNoObject
	}
	event.Kind = KindOf(e.Object)
	return event, checkType(event.Type)
}

// Item implements Codec.
func (jsonCodec[T]) Item(item []byte) (T, error) {
	obj := newOf[T]()
	return obj, jsonItemError(item, json.Unmarshal(item, obj))
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

// newOf returns a new T, which is a pointer.
func newOf[T any]() T { return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T) }

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
