package wire

import (
	"bytes"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
)

// codecs work without a scheme: objects carry their kind when they are encoded,
// and are decoded into an object of the right type.
var codecs = serializer.NewCodecFactory(runtime.NewScheme(),
	serializer.WithStreamingCollectionEncodingToJSON(),
	serializer.WithStreamingCollectionEncodingToProtobuf(),
)

// Format is a negotiated way to spell a response. The zero value is not usable;
// see Negotiate and JSON.
type Format struct {
	info runtime.SerializerInfo
	// Partial asks for PartialObjectMetadata instead of whole objects.
	Partial bool
}

// JSON returns plain JSON of whole objects.
func JSON() Format {
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	return Format{info: info}
}

// MediaType returns the media type of a single object or list.
func (f Format) MediaType() string { return f.info.MediaType }

// StreamMediaType returns the media type of a watch.
func (f Format) StreamMediaType() string {
	if f.info.MediaType == runtime.ContentTypeJSON {
		return runtime.ContentTypeJSON
	}
	return f.info.MediaType + ";stream=watch"
}

// Encode writes obj, which must carry its kind, as it is.
func (f Format) Encode(obj runtime.Object, w io.Writer) error {
	return f.info.Serializer.Encode(obj, w)
}

// Shape returns what stands for obj in this format: obj itself, or its metadata.
func (f Format) Shape(obj runtime.Object) (runtime.Object, error) {
	if !f.Partial {
		return obj, nil
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	return partial(accessor), nil
}

func partial(m metav1.Object) *metav1.PartialObjectMetadata {
	p := meta.AsPartialObjectMetadata(m)
	p.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
	return p
}

// EncodeEvent returns one framed watch event of obj, which must carry its kind
// and is sent in the format's shape. Error events are sent as they are.
func (f Format) EncodeEvent(t watch.EventType, obj runtime.Object) ([]byte, error) {
	if t != watch.Error {
		var err error
		if obj, err = f.Shape(obj); err != nil {
			return nil, err
		}
	}
	return f.EncodeRawEvent(t, obj)
}

// EncodeRawEvent returns one framed watch event of obj exactly as it is.
func (f Format) EncodeRawEvent(t watch.EventType, obj runtime.Object) ([]byte, error) {
	var object, frame bytes.Buffer
	if err := f.info.Serializer.Encode(obj, &object); err != nil {
		return nil, fmt.Errorf("encode the object of a watch event: %w", err)
	}
	stream := f.info.StreamSerializer
	event := &metav1.WatchEvent{Type: string(t), Object: runtime.RawExtension{Raw: object.Bytes()}}
	if err := stream.Encode(event, stream.NewFrameWriter(&frame)); err != nil {
		return nil, fmt.Errorf("encode a watch event: %w", err)
	}
	return frame.Bytes(), nil
}
