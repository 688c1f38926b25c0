package wire

import (
	"fmt"
	"io"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/internal/decode/parts"
	"github.com/kubetyped/informer/internal/decode/plan"
)

// Codec decodes responses of one media type into objects of one type. It is all
// that has to be written for another way to decode: what comes before it (the
// bytes of a response) and after it (Pipeline) knows neither format nor type.
//
// Its methods may be called from several goroutines; their results refer to none of the bytes
// given. The results, errors included, have to be those of a decoder of apimachinery's for the
// same bytes.
type Codec[T any] interface {
	// Frames splits a watch into events.
	Frames(response io.Reader) Frames
	// Event decodes a frame of a watch. An object that cannot be decoded, but identified, is
	// the event's Invalid. An error says that the frame is no event: the watch cannot be
	// believed from there on.
	Event(frame []byte) (Event[T], error)
	// Items splits a list.
	Items(response io.Reader) Items
	// Item decodes an item of a list. The error is an *ObjectError if the item can
	// be left out; another one says that the list cannot be believed.
	Item(item []byte) (T, error)
}

// Held returns the present object of a name, to deduplicate its next state with; none, if it is
// not there. It must not keep the strings.
type Held[T any] func(namespace, name string) (T, bool)

// unmarshaler is what apimachinery's protobuf serializer asks of types.
type unmarshaler interface {
	Reset()
	Unmarshal([]byte) error
}

// hasProtobuf reports whether a pointer to a struct has generated code for protobuf
// that decodes all of it: a struct that embeds an ObjectMeta has the methods of
// that.
func hasProtobuf(of reflect.Type) bool {
	return of.Implements(reflect.TypeFor[unmarshaler]()) && isDeclared(of, methodUnmarshal) && isDeclared(of, methodReset)
}

// MediaTypes returns what objects of type T can be decoded from, the best first:
// protobuf if T has generated code for it, or if they are of a type of the API that has
// and each field of T can be decoded from one of it; and JSON. It returns the error of
// CheckType.
func MediaTypes[T any](of *API) ([]string, error) {
	return mediaTypesOf[T](reflect.TypeFor[T](), of)
}

// MediaTypesOf is MediaTypes for a type that no code can name.
func MediaTypesOf(into reflect.Type) ([]string, error) { return mediaTypesOf[any](into, nil) }

func mediaTypesOf[T any](into reflect.Type, of *API) ([]string, error) {
	if err := CheckType(into); err != nil {
		return nil, err
	}
	if hasProtobuf(into) || decodesInto[T](of) {
		return []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON}, nil
	}
	return []string{runtime.ContentTypeJSON}, nil
}

// NewCodec returns the codec for a media type, without parameters. It returns an
// error for one that is not among MediaTypes. Of what type of the API objects in
// protobuf are need be known only if T is another one; of may be nil.
//
// Unless held is nil, the objects that it decodes are deduplicated, with each other and with
// those that held returns. They must not be modified then. Of the objects, only the fields of
// mask are decoded; nil is all.
func NewCodec[T any](mediaType string, of *API, held Held[T], mask *plan.Mask) (Codec[T], error) {
	return newCodec(mediaType, reflect.TypeFor[T](), of, held, mask)
}

// NewCodecOf is NewCodec for objects of a type that no code can name, and that
// implements T, an interface.
func NewCodecOf[T any](mediaType string, into reflect.Type, held Held[T], mask *plan.Mask) (Codec[T], error) {
	return newCodec(mediaType, into, nil, held, mask)
}

func newCodec[T any](mediaType string, into reflect.Type, of *API, held Held[T], mask *plan.Mask) (Codec[T], error) {
	types, err := mediaTypesOf[T](into, of)
	if err != nil {
		return nil, err
	}
	pointers, err := parts.PointersTo[T](into)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(types, mediaType) {
		return nil, fmt.Errorf("%q is none of the media types that can be decoded, %q", mediaType, types)
	}
	if mediaType == runtime.ContentTypeProtobuf {
		if hasProtobuf(into) {
			of = nil
		}
		return newProtobufCodec(pointers, of, held, mask)
	}
	return newJSONCodec(pointers, held, mask), nil
}

// Packing returns a codec that gives each object of a NewCodec to pack, with the bytes that it
// was decoded from, which are valid until pack returns. It calls pack from several goroutines.
// Other codecs do not pack.
func Packing[T any](codec Codec[T], pack func(obj T, bytes []byte)) Codec[T] {
	switch c := codec.(type) {
	case *protobufCodec[T]:
		packing := *c
		packing.pack = pack
		return &packing
	case *jsonCodec[T]:
		packing := *c
		packing.pack = pack
		return &packing
	}
	return codec
}

// KindOf returns the kind that an object says it has, nothing if T keeps none.
func KindOf[T any](obj T) (kind metav1.TypeMeta) {
	if o, ok := any(obj).(interface{ GetObjectKind() schema.ObjectKind }); ok {
		kind.APIVersion, kind.Kind = o.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	}
	return kind
}
