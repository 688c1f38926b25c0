package wire

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
)

// carriedKind types objects by the kind they carry. The CBOR serializer decodes
// into nothing that its typer does not know.
type carriedKind struct{}

// ObjectKinds implements runtime.ObjectTyper.
func (carriedKind) ObjectKinds(obj runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	return []schema.GroupVersionKind{obj.GetObjectKind().GroupVersionKind()}, false, nil
}

// Recognizes implements runtime.ObjectTyper.
func (carriedKind) Recognizes(schema.GroupVersionKind) bool { return true }

func newCBOR(creater runtime.ObjectCreater, _ runtime.ObjectTyper) runtime.SerializerInfo {
	return cbor.NewSerializerInfo(creater, carriedKind{})
}
