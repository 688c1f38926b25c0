package wire

import (
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubetyped/informer/internal/decode/jsontree"
	"github.com/kubetyped/informer/internal/decode/plan"
)

// Unplanned returns why objects of type T, which come in a media type, are decoded in a
// slower way than others are: in JSON, though those of the API have protobuf, or without a
// plan. It returns nil if they are not.
func Unplanned[T any](mediaType string, of *API, mask *plan.Mask) error {
	into := reflect.TypeFor[T]()
	if into == reflect.TypeFor[*unstructured.Unstructured]() {
		return nil
	}
	generated := hasProtobuf(into)
	if mediaType == runtime.ContentTypeProtobuf {
		if !generated {
			return nil // there is a plan, or else no protobuf
		}
		_, err := plan.New[T](into, poolFor(true, mask), mask)
		return because("generated code decodes them", err)
	}
	var kept, left error
	if of != nil && !generated {
		_, kept = plan.From[T](of.Type, nil, nil)
	}
	_, left = jsontree.NewStructs[T](into, mask)
	return errors.Join(because("they stay in JSON", kept), because("apimachinery's decoder decodes their JSON", left))
}

// because returns an error that says what is so for a reason, nil if there is no reason.
func because(what string, reason error) error {
	if reason == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, reason)
}
