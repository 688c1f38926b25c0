package wire

import (
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/internal/decode/plan"
)

// API is a type of the API, with code for protobuf: what objects are on the server that
// are decoded into a struct of the user's own.
type API struct {
	Type reflect.Type // a struct
	Kind schema.GroupVersionKind
}

// decodesInto reports whether messages of the type can be decoded into a T. The type
// may be nil.
func decodesInto[T any](of *API) bool {
	if of == nil {
		return false
	}
	_, err := plan.From[T](of.Type, nil, nil)
	return err == nil
}

// check returns an error if an object, or a list, is of another kind: the numbers of its
// fields would have another meaning.
func (of *API) check(kind metav1.TypeMeta, suffix string) error {
	expected := of.Kind
	expected.Kind += suffix
	if kind.GroupVersionKind() == expected {
		return nil
	}
	return fmt.Errorf("in protobuf, it is a %q of %q, expected a %s of %s; have the configuration ask for JSON", kind.Kind, kind.APIVersion, expected.Kind, expected.GroupVersion())
}

// checkedItems are items of a list that has to be of one kind.
type checkedItems struct {
	Items
	of *API
}

// Next implements Items.
func (l checkedItems) Next() ([]byte, error) {
	item, err := l.Items.Next()
	if err == nil {
		err = l.of.check(l.Head().TypeMeta, "List")
	}
	if err != nil {
		return nil, err
	}
	return item, nil
}
