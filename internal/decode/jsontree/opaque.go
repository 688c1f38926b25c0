package jsontree

import (
	"bytes"
	"encoding/json"
	"reflect"
	"time"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// opaque decodes a type by the method UnmarshalJSON that it has.
type opaque struct {
	decode func(to unsafe.Pointer, text []byte) error
	// equals reports whether decoding text gives the value at p. It may say no
	// without looking.
	equals func(p unsafe.Pointer, text []byte) bool
}

func opaqueOf(of reflect.Type) *opaque {
	o := &opaque{
		decode: func(to unsafe.Pointer, text []byte) error {
			return reflect.NewAt(of, to).Interface().(json.Unmarshaler).UnmarshalJSON(text)
		},
		equals: func(unsafe.Pointer, []byte) bool { return false },
	}
	switch of {
	case reflect.TypeFor[metav1.Time]():
		o.decode, o.equals = decodeTime, equalTime
	case reflect.TypeFor[metav1.FieldsV1]():
		o.equals = equalFields
	case reflect.TypeFor[metav1.MicroTime]():
		o.equals = equalAs((*metav1.MicroTime).UnmarshalJSON)
	case reflect.TypeFor[metav1.Duration]():
		o.equals = equalAs((*metav1.Duration).UnmarshalJSON)
	case reflect.TypeFor[resource.Quantity]():
		o.equals = equalAs((*resource.Quantity).UnmarshalJSON)
	case reflect.TypeFor[intstr.IntOrString]():
		o.equals = equalAs((*intstr.IntOrString).UnmarshalJSON)
	}
	return o
}

// timeLength is that of a time as API servers write it, in quotes.
const timeLength = len(`"2006-01-02T15:04:05Z"`)

// decodeTime decodes a time as its method does, which takes a decoder of JSON for it.
func decodeTime(to unsafe.Pointer, text []byte) error {
	t := (*metav1.Time)(to)
	if len(text) == timeLength && text[0] == '"' {
		if parsed, err := time.Parse(time.RFC3339, string(text[1:timeLength-1])); err == nil {
			t.Time = parsed.Local()
			return nil
		}
	}
	return t.UnmarshalJSON(text)
}

// equalAs compares what a method decodes. Values that refer to what could be modified
// are not equal to others in Go.
func equalAs[V comparable](decode func(*V, []byte) error) func(unsafe.Pointer, []byte) bool {
	return func(p unsafe.Pointer, text []byte) bool {
		var decoded V
		return decode(&decoded, text) == nil && decoded == *(*V)(p)
	}
}

// equalTime compares a time by its encoding, which takes less than decoding the text.
func equalTime(p unsafe.Pointer, text []byte) bool {
	var buffer [len(time.RFC3339Nano)]byte
	t := (*metav1.Time)(p).Time
	if len(text) != timeLength || t != time.Unix(t.Unix(), 0) {
		return false
	}
	return string(t.UTC().AppendFormat(buffer[:0], time.RFC3339)) == string(text[1:len(text)-1])
}

// equalFields compares a set of managed fields, which is kept as it is encoded.
func equalFields(p unsafe.Pointer, text []byte) bool {
	raw := (*metav1.FieldsV1)(p).GetRawBytes()
	return raw != nil && bytes.Equal(raw, text) && string(text) != "null"
}
