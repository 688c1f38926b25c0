package wire

import (
	"bytes"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"
)

var errNoObject = errors.New("an event without an object")

// Event implements Codec. An event is a metav1.WatchEvent: its object is not copied if it is
// written as API servers write it.
func (c *jsonCodec[T]) Event(frame []byte) (Event[T], error) {
	t, text := splitEvent(frame)
	split := len(text) > 0 && text[0] == '{' && checkType(t) == nil
	var err error
	if split {
		var obj T
		if obj, err = c.object(text); err == nil { // so it is one value
			return c.event(t, obj, text)
		}
	}
	var e metav1.WatchEvent
	if err := json.Unmarshal(frame, &e); err != nil {
		return Event[T]{}, err
	}
	raw := e.Object.Raw
	if raw == nil {
		return Event[T]{}, errNoObject
	}
	event := Event[T]{Type: watch.EventType(e.Type)}
	switch event.Type {
	case watch.Bookmark:
		event.Bookmark = &metav1.PartialObjectMetadata{}
		return event, json.Unmarshal(raw, event.Bookmark)
	case watch.Error:
		event.Status = &metav1.Status{}
		return event, json.Unmarshal(raw, event.Status)
	}
	if err := checkType(event.Type); err != nil {
		return event, err
	}
	if !split || !bytes.Equal(raw, text) {
		var obj T
		if obj, err = c.object(raw); err == nil {
			return c.event(event.Type, obj, raw)
		}
	}
	return jsonInvalid[T](event.Type, raw, err)
}

// event returns the event of an object that was decoded.
func (c *jsonCodec[T]) event(t watch.EventType, obj T, text []byte) (Event[T], error) {
	kind, err := c.objects.kindOf(obj)
	if err != nil {
		return jsonInvalid[T](t, text, err)
	}
	return Event[T]{Type: t, Object: obj, Kind: kind}, nil
}

// jsonInvalid returns the event of an object that cannot be decoded for the given reason.
func jsonInvalid[T any](t watch.EventType, text []byte, cause error) (Event[T], error) {
	id, _ := identifyJSON(text)
	return invalidEvent[T](t, &ObjectError{Identity: id, Err: cause})
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

// invalidEvent returns an event whose object cannot be decoded, or only the error, if the name
// of the object is not known.
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

// checkKind returns an error if the object of an event does not say of which kind it is:
// API servers leave that out of items of lists only.
func checkKind(kind metav1.TypeMeta) error {
	if kind.Kind == "" || kind.APIVersion == "" {
		return errors.New("object has no kind or apiVersion")
	}
	return nil
}

// keepsKind reports whether an object, which is new, has the kind that is in its JSON.
func keepsKind(obj any) (keeps bool) {
	defer func() {
		if recover() != nil { // it asks for more than is in the probe
			keeps = false
		}
	}()
	_ = json.Unmarshal(probe, obj)
	return KindOf(obj) == metav1.TypeMeta{APIVersion: "v1", Kind: "Probe"}
}
