package wire

import (
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/munnerz/goautoneg"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Need says what a response must be able to carry.
type Need struct {
	// Protobuf says that whole objects can be spelled in protobuf.
	Protobuf bool
	// Stream asks for a watch.
	Stream bool
}

// Negotiate returns the first acceptable format of an Accept header, by quality;
// an empty header accepts JSON. It returns a 406 API status when there is none.
func Negotiate(accept string, need Need) (Format, error) {
	if accept == "" {
		return JSON(), nil
	}
	for _, clause := range goautoneg.ParseAccept(accept) {
		partial, ok := transformation(clause.Params)
		if !ok {
			continue
		}
		for _, info := range codecs.SupportedMediaTypes() {
			if !matches(clause.Type, info.MediaTypeType) || !matches(clause.SubType, info.MediaTypeSubType) {
				continue
			}
			if info.MediaType == runtime.ContentTypeProtobuf && !need.Protobuf && !partial {
				continue
			}
			if need.Stream && info.StreamSerializer == nil {
				continue
			}
			return Format{info: info, Partial: partial}, nil
		}
	}
	return Format{}, status(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"only the following media types are accepted: %s", strings.Join(mediaTypes(need.Protobuf), ", "))
}

func matches(pattern, s string) bool { return pattern == "*" || pattern == s }

// transformation reads the "as" of an Accept clause. It returns false for one
// that this package does not do, such as Table.
func transformation(params map[string]string) (partial, ok bool) {
	switch as := params["as"]; as {
	case "":
		return false, true
	case "PartialObjectMetadata", "PartialObjectMetadataList":
		ok := params["g"] == metav1.GroupName && params["v"] == metav1.SchemeGroupVersion.Version
		return ok, ok
	default:
		return false, false
	}
}

// Decode reads a body of the content type (empty: JSON) into obj, and checks
// that it is of the kind expected, or does not name one. It returns a 415 status
// for content types it does not know and a 400 status for what it cannot read.
func Decode(contentType string, body []byte, kind schema.GroupVersionKind, protobuf bool, into runtime.Object) error {
	mediaType := runtime.ContentTypeJSON
	if contentType != "" {
		parsed, _, err := mime.ParseMediaType(contentType)
		if err != nil {
			return unsupported(mediaTypes(protobuf))
		}
		mediaType = parsed
	}
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
	if !ok || mediaType == runtime.ContentTypeProtobuf && !protobuf {
		return unsupported(mediaTypes(protobuf))
	}
	_, actual, err := info.Serializer.Decode(body, &kind, into)
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

// DecodeOptions reads delete options, whose API version may be that of any
// group. An empty body is empty options.
func DecodeOptions(contentType string, body []byte) (*metav1.DeleteOptions, error) {
	options := &metav1.DeleteOptions{}
	if len(body) == 0 {
		return options, nil
	}
	mediaType := runtime.ContentTypeJSON
	if contentType != "" {
		parsed, _, err := mime.ParseMediaType(contentType)
		if err != nil {
			return nil, unsupported(mediaTypes(true))
		}
		mediaType = parsed
	}
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		return nil, unsupported(mediaTypes(true))
	}
	kind := metav1.SchemeGroupVersion.WithKind("DeleteOptions")
	if _, _, err := info.Serializer.Decode(body, &kind, options); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("decode delete options: %v", err))
	}
	return options, nil
}

func unsupported(accepted []string) error {
	return status(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"the body of the request was in an unknown format - accepted media types include: %s", strings.Join(accepted, ", "))
}

// UnsupportedMediaType returns a 415 status that lists what is accepted.
func UnsupportedMediaType(accepted ...string) error { return unsupported(accepted) }

func mediaTypes(protobuf bool) []string {
	var names []string
	for _, info := range codecs.SupportedMediaTypes() {
		if protobuf || info.MediaType != runtime.ContentTypeProtobuf {
			names = append(names, info.MediaType)
		}
	}
	return names
}

func status(code int32, reason metav1.StatusReason, format string, args ...any) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    code,
		Reason:  reason,
		Message: fmt.Sprintf(format, args...),
	}}
}
