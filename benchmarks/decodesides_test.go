package benchmarks

import (
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	restwatch "k8s.io/client-go/rest/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/decode/plan"
	"github.com/kubetyped/informer/internal/decode/wire"
)

// decoder makes objects of bytes.
type decoder interface {
	// item decodes an item of a list.
	item(data []byte) (any, error)
	// events returns a function that decodes the next event of a watch.
	events(response io.ReadCloser) (next func() (any, error))
}

// resource is a custom resource, as authors of operators define it: a struct with JSON tags and
// no code for protobuf. It has as much in it as a Pod.
type resource struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              corev1.PodSpec   `json:"spec"`
	Status            corev1.PodStatus `json:"status,omitempty"`
}

var resourceKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Workload"}

// DeepCopyObject implements runtime.Object.
func (r *resource) DeepCopyObject() runtime.Object {
	own := &resource{TypeMeta: r.TypeMeta, ObjectMeta: *r.ObjectMeta.DeepCopy()}
	r.Spec.DeepCopyInto(&own.Spec)
	r.Status.DeepCopyInto(&own.Status)
	return own
}

// clientGoDecoder decodes as client-go's clients do.
type clientGoDecoder struct {
	info     runtime.SerializerInfo
	embedded runtime.Decoder // of the objects in events
	decode   func(data []byte) (any, error)
}

func (d clientGoDecoder) item(data []byte) (any, error) { return d.decode(data) }

func (d clientGoDecoder) events(response io.ReadCloser) func() (any, error) {
	stream := d.info.StreamSerializer
	decoder := restwatch.NewDecoder(streaming.NewDecoder(stream.NewFrameReader(response), stream.Serializer), d.embedded)
	return func() (any, error) {
		_, obj, err := decoder.Decode()
		return obj, err
	}
}

// typedDecoder decodes as sources of this project do, with a store of the decoded objects, as
// informers have.
type typedDecoder[T index.Object] struct {
	codec wire.Codec[T]
	held  map[index.Key]T
}

// newTypedDecoder returns what makes decoders of a T. What objects are on the server need
// be known only if T is a type of the user's own; of and fields may be nil.
func newTypedDecoder[T index.Object](mediaType string, of *wire.API, fields []string) func(testing.TB) decoder {
	return func(tb testing.TB) decoder {
		d := typedDecoder[T]{held: map[index.Key]T{}}
		var mask *plan.Mask
		var err error
		if fields != nil {
			mask, err = plan.Only(fields...)
			require.NoError(tb, err)
		}
		d.codec, err = wire.NewCodec(mediaType, of, func(namespace, name string) (T, bool) {
			obj, ok := d.held[index.Key{Namespace: namespace, Name: name}]
			return obj, ok
		}, mask)
		require.NoError(tb, err)
		return d
	}
}

func (d typedDecoder[T]) item(data []byte) (any, error) {
	obj, err := d.codec.Item(data)
	if err == nil {
		d.held[index.KeyOf(obj)] = obj
	}
	return obj, err
}

func (d typedDecoder[T]) events(response io.ReadCloser) func() (any, error) {
	frames := d.codec.Frames(response)
	return func() (any, error) {
		frame, err := frames.Next()
		if err != nil {
			return nil, err
		}
		event, err := d.codec.Event(frame)
		if err == nil && event.Invalid != nil {
			err = event.Invalid
		}
		if err == nil {
			d.held[index.KeyOf(event.Object)] = event.Object
		}
		return event.Object, err
	}
}

// decodeForm is a format of bytes, and the objects that both sides decode from it.
type decodeForm struct {
	name, mediaType string
	object          func(*corev1.Pod) runtime.Object // to be encoded
	clientGo, typed func(testing.TB) decoder
	// keeps returns what typed keeps of what client-go has decoded; nil: all.
	keeps func(their any) any
}

// decodeForms returns the forms that objects are decoded in.
func decodeForms() []decodeForm {
	pod := func(pod *corev1.Pod) runtime.Object {
		pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
		return pod
	}
	custom := func(pod *corev1.Pod) runtime.Object {
		obj := &resource{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec, Status: pod.Status}
		obj.SetGroupVersionKind(resourceKind)
		return obj
	}
	own := runtime.NewScheme()
	own.AddKnownTypeWithName(resourceKind, &resource{})
	decodePod := func(data []byte) (any, error) {
		pod := &corev1.Pod{}
		return pod, pod.Unmarshal(data)
	}
	six := []string{"spec.nodeName", "status.phase", "status.podIP"} // and name, namespace and version
	sixMask, err := plan.Only(six...)
	if err != nil {
		panic(err)
	}
	podType := &wire.API{Type: reflect.TypeFor[corev1.Pod](), Kind: corev1.SchemeGroupVersion.WithKind("Pod")}
	builtIn, ownDecoder := scheme.Codecs.UniversalDeserializer(), serializer.NewCodecFactory(own).UniversalDeserializer()
	return []decodeForm{
		{
			"pod-protobuf", runtime.ContentTypeProtobuf, pod,
			clientGoSides(runtime.ContentTypeProtobuf, builtIn, decodePod), newTypedDecoder[*corev1.Pod](runtime.ContentTypeProtobuf, nil, nil), nil,
		},
		{
			"pod-json", runtime.ContentTypeJSON, pod,
			clientGoSides(runtime.ContentTypeJSON, builtIn, func(data []byte) (any, error) {
				pod := &corev1.Pod{}
				return pod, utiljson.Unmarshal(data, pod)
			}), newTypedDecoder[*corev1.Pod](runtime.ContentTypeJSON, nil, nil), nil,
		},
		{
			"unstructured-json", runtime.ContentTypeJSON, pod,
			clientGoSides(runtime.ContentTypeJSON, unstructured.UnstructuredJSONScheme, func(data []byte) (any, error) {
				obj := &unstructured.Unstructured{}
				return obj, utiljson.Unmarshal(data, &obj.Object)
			}), newTypedDecoder[*unstructured.Unstructured](runtime.ContentTypeJSON, nil, nil), nil,
		},
		{
			"resource-json", runtime.ContentTypeJSON, custom,
			clientGoSides(runtime.ContentTypeJSON, ownDecoder, func(data []byte) (any, error) {
				obj := &resource{}
				return obj, utiljson.Unmarshal(data, obj)
			}), newTypedDecoder[*resource](runtime.ContentTypeJSON, nil, nil), nil,
		},
		{
			"sixfields-own-protobuf", runtime.ContentTypeProtobuf, pod,
			transformed(clientGoSides(runtime.ContentTypeProtobuf, builtIn, decodePod), strip),
			newTypedDecoder[*sixFields](runtime.ContentTypeProtobuf, podType, nil), func(their any) any { return project(their.(*corev1.Pod)) },
		},
		{
			"sixfields-pod-protobuf", runtime.ContentTypeProtobuf, pod,
			clientGoSides(runtime.ContentTypeProtobuf, builtIn, decodePod),
			newTypedDecoder[*corev1.Pod](runtime.ContentTypeProtobuf, nil, six), func(their any) any {
				sixMask.Apply(their)
				return their
			},
		},
	}
}

func clientGoSides(mediaType string, embedded runtime.Decoder, decode func([]byte) (any, error)) func(testing.TB) decoder {
	return func(tb testing.TB) decoder {
		info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
		require.True(tb, ok)
		return clientGoDecoder{info, embedded, decode}
	}
}

// transformed returns sides that pass what they have decoded through a transform
// function, as client-go's informers do.
func transformed(sides func(testing.TB) decoder, transform cache.TransformFunc) func(testing.TB) decoder {
	return func(tb testing.TB) decoder { return transformedDecoder{sides(tb), transform} }
}

type transformedDecoder struct {
	decoder
	transform cache.TransformFunc
}

func (d transformedDecoder) item(data []byte) (any, error) {
	obj, err := d.decoder.item(data)
	if err != nil {
		return nil, err
	}
	return d.transform(obj)
}

func (d transformedDecoder) events(response io.ReadCloser) func() (any, error) {
	next := d.decoder.events(response)
	return func() (any, error) {
		obj, err := next()
		if err != nil {
			return nil, err
		}
		return d.transform(obj)
	}
}

// encodeItem returns the object of a Pod as an item of a list has it: in protobuf
// without the envelope that has its kind.
func (f decodeForm) encodeItem(tb testing.TB, pod *corev1.Pod) []byte {
	if f.mediaType == runtime.ContentTypeProtobuf {
		data, err := pod.Marshal()
		require.NoError(tb, err)
		return data
	}
	data, err := runtime.Encode(f.serializer(tb).Serializer, f.object(pod))
	require.NoError(tb, err)
	return data
}

// encodeEvent appends the event that the object of a Pod was modified.
func (f decodeForm) encodeEvent(tb testing.TB, pod *corev1.Pod, to io.Writer) {
	info := f.serializer(tb)
	object, err := runtime.Encode(info.Serializer, f.object(pod))
	require.NoError(tb, err)
	event := &metav1.WatchEvent{Type: string(watch.Modified), Object: runtime.RawExtension{Raw: object}}
	require.NoError(tb, info.StreamSerializer.Encode(event, info.StreamSerializer.NewFrameWriter(to)))
}

func (f decodeForm) serializer(tb testing.TB) runtime.SerializerInfo {
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), f.mediaType)
	require.True(tb, ok, fmt.Sprint("no serializer for ", f.mediaType))
	return info
}
