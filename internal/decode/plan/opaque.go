package plan

import (
	"bytes"
	"reflect"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// unmarshaler is implemented by types with generated or custom code.
type unmarshaler interface{ Unmarshal([]byte) error }

// opaque decodes a type by the code that it has.
type opaque struct {
	// decode decodes data into the value at to.
	decode func(to unsafe.Pointer, data []byte) error
	// equals reports whether decoding data gives the value at p. It may say no
	// without looking.
	equals func(p unsafe.Pointer, data []byte) bool
}

// opaqueOf returns how to decode a type that has a method Unmarshal.
func opaqueOf(of reflect.Type) *opaque {
	switch of {
	case reflect.TypeFor[metav1.Time]():
		return opaqueFor((*metav1.Time).Unmarshal, func(p *metav1.Time, data []byte) bool {
			var decoded metav1.Time
			return decoded.Unmarshal(data) == nil && decoded == *p
		})
	case reflect.TypeFor[metav1.MicroTime]():
		return opaqueFor((*metav1.MicroTime).Unmarshal, func(p *metav1.MicroTime, data []byte) bool {
			var decoded metav1.MicroTime
			return decoded.Unmarshal(data) == nil && decoded == *p
		})
	case reflect.TypeFor[resource.Quantity]():
		return opaqueFor(decodeQuantity, func(p *resource.Quantity, data []byte) bool {
			decoded, err := quantityOf(data)
			return err == nil && decoded == *p
		})
	case reflect.TypeFor[metav1.FieldsV1]():
		return opaqueFor((*metav1.FieldsV1).Unmarshal, equalFields)
	}
	return &opaque{
		decode: func(to unsafe.Pointer, data []byte) error {
			value := reflect.NewAt(of, to)
			if of.Kind() == reflect.Slice { // generated code begins with one that is empty
				value.Elem().Set(reflect.MakeSlice(of, 0, 0))
			}
			return value.Interface().(unmarshaler).Unmarshal(data)
		},
		equals: func(unsafe.Pointer, []byte) bool { return false },
	}
}

func opaqueFor[V any](decode func(*V, []byte) error, equals func(*V, []byte) bool) *opaque {
	return &opaque{
		decode: func(to unsafe.Pointer, data []byte) error { return decode((*V)(to), data) },
		equals: func(p unsafe.Pointer, data []byte) bool { return equals((*V)(p), data) },
	}
}

// equalFields compares a set of managed fields with its message, which has one
// field.
func equalFields(p *metav1.FieldsV1, data []byte) bool {
	if len(data) == 0 || data[0] != 1<<3|bytesType {
		return false
	}
	begin, end := span(data, 1)
	return end == len(data) && end > begin && bytes.Equal(p.GetRawBytes(), data[begin:end])
}
