package wire

import (
	"fmt"
	"io"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Codec decodes responses of one media type. Its methods may be called from
// several goroutines; what they return refers to none of the bytes given.
type Codec[T any] interface {
	// Frames splits a watch into events.
	Frames(response io.Reader) Frames
	// Event decodes a frame of a watch.
	Event(frame []byte) (Event[T], error)
	// Items splits a list.
	Items(response io.Reader) Items
	// Item decodes an item of a list.
	Item(item []byte) (T, error)
}

// unmarshaler is what apimachinery's protobuf serializer asks of types.
type unmarshaler interface {
	Reset()
	Unmarshal([]byte) error
}

// MediaTypes returns what objects of type T can be decoded from: protobuf if T
// has generated code for it, CBOR if T is *unstructured.Unstructured, and JSON.
// T has to be a pointer to a struct.
//
// CBOR is left out for other types since apimachinery has no decoder for those
// that no scheme knows which forgives unknown fields.
func MediaTypes[T any]() ([]string, error) {
	of := reflect.TypeFor[T]()
	if of.Kind() != reflect.Pointer || of.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("objects can be decoded into pointers to structs, and %v is none", of)
	}
	var none T
	switch any(none).(type) {
	case *unstructured.Unstructured:
		return []string{runtime.ContentTypeCBOR, runtime.ContentTypeJSON}, nil
	case unmarshaler:
		return []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON}, nil
	default:
		return []string{runtime.ContentTypeJSON}, nil
	}
}

// NewCodec returns the codec for a media type, without parameters. It returns an
// error for one that is not among MediaTypes.
func NewCodec[T any](mediaType string) (Codec[T], error) {
	types, err := MediaTypes[T]()
	if err != nil {
		return nil, err
	}
	var none T
	_, isUnstructured := any(none).(*unstructured.Unstructured)
	_, hasProtobuf := any(none).(unmarshaler)
	switch {
	case mediaType == runtime.ContentTypeJSON && isUnstructured:
		return any(unstructuredJSON{}).(Codec[T]), nil
	case mediaType == runtime.ContentTypeJSON:
		return jsonCodec[T]{}, nil
	case mediaType == runtime.ContentTypeProtobuf && hasProtobuf:
		return newProtobufCodec[T](), nil
	case (mediaType == runtime.ContentTypeCBOR || mediaType == runtime.ContentTypeCBORSequence) && isUnstructured:
		return any(newUnstructuredCBOR()).(Codec[T]), nil
	default:
		return nil, fmt.Errorf("%q is none of the media types that can be decoded, %q", mediaType, types)
	}
}

// kindOf returns the accessor of an object's kind, nil if T keeps none.
func kindOf[T any](obj T) schema.ObjectKind {
	if o, ok := any(obj).(interface{ GetObjectKind() schema.ObjectKind }); ok {
		return o.GetObjectKind()
	}
	return nil
}
