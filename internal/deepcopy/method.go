package deepcopy

import (
	"reflect"
	"unsafe"

	"k8s.io/apimachinery/pkg/runtime"
)

// byMethod returns a function that copies values of a type by the type's own method, nil if it
// has none. Of types with generated code, these are pointers and the values that they point
// to.
func (b builder) byMethod(t reflect.Type) func(c *copying, p unsafe.Pointer) {
	if t.Kind() == reflect.Interface {
		return nil
	}
	if m, ok := t.MethodByName("DeepCopy"); ok && m.Type.NumIn() == 1 && m.Type.NumOut() == 1 && m.Type.Out(0) == t {
		return func(_ *copying, p unsafe.Pointer) {
			if v := reflect.NewAt(t, p).Elem(); !isNil(v.Interface()) {
				v.Set(m.Func.Call([]reflect.Value{v})[0])
			}
		}
	}
	to := reflect.PointerTo(t)
	if m, ok := to.MethodByName("DeepCopyInto"); ok && m.Type.NumIn() == 2 && m.Type.In(1) == to && m.Type.NumOut() == 0 {
		return func(_ *copying, p unsafe.Pointer) {
			from, into := reflect.New(t), reflect.NewAt(t, p)
			from.Elem().Set(into.Elem())
			m.Func.Call([]reflect.Value{from, into})
		}
	}
	if t.Kind() == reflect.Pointer && t.Implements(reflect.TypeFor[runtime.Object]()) {
		return b.byObject(t)
	}
	return nil
}

// byObject copies by the method DeepCopyObject, unless that is one of an embedded field.
func (b builder) byObject(t reflect.Type) func(c *copying, p unsafe.Pointer) {
	fields := b.pointer(t)
	return func(c *copying, p unsafe.Pointer) {
		v := reflect.NewAt(t, p).Elem()
		if v.IsNil() {
			return
		}
		copied := reflect.ValueOf(v.Interface().(runtime.Object).DeepCopyObject())
		if copied.IsValid() && copied.Type() == t {
			v.Set(copied)
			return
		}
		fields(c, p)
	}
}
