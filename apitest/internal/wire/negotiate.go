package wire

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/munnerz/goautoneg"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Need says what a response must be able to carry.
type Need struct {
	// Protobuf says that whole objects can be spelled in protobuf, besides JSON and YAML.
	Protobuf bool
	// Stream asks for a watch.
	Stream bool
	// Whole rules out that parts of objects stand in their place.
	Whole bool
}

// Negotiate returns the first acceptable format of an Accept header, by quality;
// an empty header accepts JSON. It returns a 406 API status when there is none.
func Negotiate(accept string, need Need) (Format, error) {
	if accept == "" {
		return JSON(), nil
	}
	for _, clause := range goautoneg.ParseAccept(accept) {
		partial, ok := transformation(clause.Params)
		if !ok || partial && need.Whole {
			continue
		}
		for _, info := range codecs.SupportedMediaTypes() {
			if !matches(clause.Type, info.MediaTypeType) || !matches(clause.SubType, info.MediaTypeSubType) {
				continue
			}
			if need.spells(info, partial) {
				return Format{info: info, Partial: partial}, nil
			}
		}
	}
	return Format{}, status(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"only the following media types are accepted: %s", strings.Join(need.names(), ", "))
}

// spells reports whether what is needed can be spelled by a serializer.
func (n Need) spells(info runtime.SerializerInfo, partial bool) bool {
	switch {
	case n.Stream && info.StreamSerializer == nil:
		return false
	case info.MediaType == runtime.ContentTypeProtobuf:
		return n.Protobuf || partial
	default:
		return true
	}
}

// names returns what may be asked for. API servers list protobuf even where only
// the metadata of objects can be spelled in it.
func (n Need) names() []string {
	var names []string
	for _, info := range codecs.SupportedMediaTypes() {
		switch {
		case !n.spells(info, true):
		case !n.Stream:
			names = append(names, info.MediaType)
		default:
			names = append(names, info.MediaType+";stream=watch")
		}
	}
	return names
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

// UnsupportedMediaType returns a 415 status that lists what is accepted.
func UnsupportedMediaType(accepted ...string) error {
	return status(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"the body of the request was in an unknown format - accepted media types include: %s", strings.Join(accepted, ", "))
}

func status(code int32, reason metav1.StatusReason, format string, args ...any) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    code,
		Reason:  reason,
		Message: fmt.Sprintf(format, args...),
	}}
}
