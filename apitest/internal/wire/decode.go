package wire

import (
	"cmp"
	"fmt"
	"mime"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
)

// Decode reads a body of the content type (empty: JSON) into obj, and checks that it is of the
// kind expected, or does not name one. It returns a 415 status for content types it does not
// know and a 400 status for a body that it cannot read. protobuf says whether the kind has that.
func Decode(contentType string, body []byte, kind schema.GroupVersionKind, protobuf bool, into runtime.Object) error {
	info, err := serializerFor(contentType, Need{Protobuf: protobuf})
	if err != nil {
		return err
	}
	if _, ok := into.(runtime.Unstructured); !ok {
		into.GetObjectKind().SetGroupVersionKind(kind)
	}
	_, actual, err := info.Serializer.Decode(body, &kind, into)
	if u, ok := into.(runtime.Unstructured); ok && err == nil {
		err = checkMetadata(u.UnstructuredContent())
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

// checkMetadata returns an error if the metadata of an object are none, such as labels that are
// numbers: its accessors would not see them.
func checkMetadata(object map[string]any) error {
	text, err := json.Marshal(object["metadata"])
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &metav1.ObjectMeta{})
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
