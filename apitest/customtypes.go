package apitest

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// customTypes converts objects of which the metadata alone have a schema: their finalizers and
// owners are merged one by one, and other lists are atomic.
type customTypes struct {
	managedfields.TypeConverter // of objects without any schema
	parseable                   typed.ParseableType
}

// newCustomTypes returns the converter for all custom resources. It takes the schema of the
// metadata from a kind of Kubernetes.
var newCustomTypes = sync.OnceValues(func() (managedfields.TypeConverter, error) {
	like := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}}
	known, err := applyconfigurations.NewTypeConverter(kubernetes.Scheme).ObjectToTyped(like)
	if err != nil {
		return nil, err
	}
	const (
		name     = "custom"
		metadata = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
		unknown  = "__untyped_deduced_"
	)
	of := func(name string) schema.TypeRef { return schema.TypeRef{NamedType: &name} }
	custom := schema.TypeDef{Name: name, Atom: schema.Atom{Map: &schema.Map{
		Fields:      []schema.StructField{{Name: "metadata", Type: of(metadata)}},
		ElementType: of(unknown), ElementRelationship: schema.Separable,
	}}}
	types := append(slices.Clone(known.Schema().Types), custom)
	return customTypes{managedfields.NewDeducedTypeConverter(), typed.ParseableType{Schema: &schema.Schema{Types: types}, TypeRef: of(name)}}, nil
})

// ObjectToTyped implements managedfields.TypeConverter.
func (c customTypes) ObjectToTyped(obj runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return c.parseable.FromUnstructured(u.UnstructuredContent(), opts...)
	}
	return c.parseable.FromStructured(obj, opts...)
}
