package wire

import (
	"cmp"
	"fmt"
	"mime"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
)

// Decode reads a body of the content type (empty: JSON) into obj, and checks that it is of the
// kind expected, or does not name one. Fields that metadata do not have are dropped. It returns a
// 415 status for content types it does not know and a 400 status for a body that it cannot read.
// protobuf says whether the kind has that.
func Decode(contentType string, body []byte, kind schema.GroupVersionKind, protobuf bool, into runtime.Object) error {
	return decode(contentType, body, kind, protobuf, into, pruneMetadata)
}

// DecodeApplied is Decode for an object to be applied, whose fields are kept as they are written:
// even an empty one has a manager.
func DecodeApplied(body []byte, kind schema.GroupVersionKind, protobuf bool, into *unstructured.Unstructured) error {
	return decode(runtime.ContentTypeYAML, body, kind, protobuf, into, func(object map[string]any) error {
		_, err := readMetadata(object)
		return err
	})
}

// decode is Decode. It calls metadata with the content of an unstructured object.
func decode(contentType string, body []byte, kind schema.GroupVersionKind, protobuf bool, into runtime.Object, metadata func(map[string]any) error) error {
	info, err := serializerFor(contentType, Need{Protobuf: protobuf})
	if err != nil {
		return err
	}
	if _, ok := into.(runtime.Unstructured); !ok {
		into.GetObjectKind().SetGroupVersionKind(kind)
	}
	_, actual, err := info.Serializer.Decode(body, &kind, into)
	if u, ok := into.(runtime.Unstructured); ok && err == nil {
		err = metadata(u.UnstructuredContent())
	}
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("decode the body as %s: %v", kind.Kind, err))
	}
	if actual.GroupVersion() != kind.GroupVersion() {
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)",
			actual.GroupVersion(), kind.GroupVersion()))
	}
	if actual.Kind != kind.Kind {
		return apierrors.NewBadRequest(fmt.Sprintf("the kind in the data (%s) does not match the expected kind (%s)", actual.Kind, kind.Kind))
	}
	return nil
}

// readMetadata reads the metadata of an object. It returns an error if they are none, such as
// labels that are numbers: the accessors of the object would not see them.
func readMetadata(object map[string]any) (*metav1.ObjectMeta, error) {
	text, err := json.Marshal(object["metadata"])
	if err != nil {
		return nil, err
	}
	m := &metav1.ObjectMeta{}
	return m, json.Unmarshal(text, m)
}

// pruneMetadata makes the metadata of an object what a server knows of them.
func pruneMetadata(object map[string]any) error {
	m, err := readMetadata(object)
	if err != nil {
		return err
	}
	object["metadata"], err = runtime.DefaultUnstructuredConverter.ToUnstructured(m)
	return err
}

// DecodeOptions reads delete options, whose API version may be that of any
// group. An empty body is empty options. Errors are those of Decode.
func DecodeOptions(contentType string, body []byte) (*metav1.DeleteOptions, error) {
	options := &metav1.DeleteOptions{}
	if len(body) == 0 {
		return options, nil
	}
	info, err := serializerFor(contentType, Need{Protobuf: true})
	if err != nil {
		return nil, err
	}
	kind := metav1.SchemeGroupVersion.WithKind("DeleteOptions")
	if _, _, err := info.Serializer.Decode(body, &kind, options); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("decode delete options: %v", err))
	}
	return options, nil
}

func serializerFor(contentType string, need Need) (runtime.SerializerInfo, error) {
	mediaType, _, err := mime.ParseMediaType(cmp.Or(contentType, runtime.ContentTypeJSON))
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
	if err != nil || !ok || !need.spells(info, false) {
		return runtime.SerializerInfo{}, UnsupportedMediaType(need.names()...)
	}
	return info, nil
}
