package deepcopy

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// ByFields copies an object as if its type had no methods, but those of its fields.
func ByFields(obj runtime.Object) runtime.Object {
	of := reflect.TypeOf(obj).Elem()
	to := reflect.New(of)
	to.Elem().Set(reflect.ValueOf(obj).Elem())
	if deepen := (builder{}).structure(of); deepen != nil {
		deepen(&copying{}, to.UnsafePointer())
	}
	return to.Interface().(runtime.Object)
}
