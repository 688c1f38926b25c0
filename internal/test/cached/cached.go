// Package cached finds the parts of an object that a mere read writes to.
package cached

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Quantities returns where there are quantities that an object refers to, by their addresses,
// and how they are reached. Elements of maps do not count: reading one returns a copy.
func Quantities(obj any) map[uintptr]string {
	found := map[uintptr]string{}
	add(reflect.ValueOf(obj), fmt.Sprintf("%T", obj), found)
	return found
}

func add(value reflect.Value, path string, to map[uintptr]string) {
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			add(value.Elem(), path, to)
		}
	case reflect.Slice:
		for i := range value.Len() {
			add(value.Index(i), fmt.Sprintf("%s[%d]", path, i), to)
		}
	case reflect.Map:
		for _, key := range value.MapKeys() {
			add(value.MapIndex(key), path+"."+key.String(), to)
		}
	case reflect.Struct:
		if value.Type() == reflect.TypeFor[resource.Quantity]() {
			if value.CanAddr() {
				to[value.Addr().Pointer()] = path
			}
			return
		}
		for i := range value.NumField() {
			if f := value.Type().Field(i); f.IsExported() {
				add(value.Field(i), path+"."+f.Name, to)
			}
		}
	}
}
