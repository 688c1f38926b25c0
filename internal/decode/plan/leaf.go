package plan

import (
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"time"
	"unicode/utf8"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// errNotAsJSON is what a value is refused with that is not in JSON as it is in
// protobuf.
var errNotAsJSON = errors.New("value differs in JSON")

// leaf is a type of the API that has a custom JSON encoding.
type leaf struct {
	isText bool    // it is a string in JSON, at least sometimes
	isTime bool    // time.Time can read it as well
	isNull bool    // its zero value is null in JSON
	itself *opaque // decodes it into itself as JSON would; nil: by way of JSON
}

// leaves are the known types with a custom JSON encoding.
var leaves = map[reflect.Type]leaf{
	reflect.TypeFor[metav1.Time]():          {isText: true, isTime: true, isNull: true, itself: opaqueAsJSON(timeAsJSON)},
	reflect.TypeFor[metav1.MicroTime]():     {isText: true, isTime: true, isNull: true, itself: opaqueAsJSON(microTimeAsJSON)},
	reflect.TypeFor[resource.Quantity]():    {isText: true, itself: opaqueAsJSON(quantityAsJSON)},
	reflect.TypeFor[intstr.IntOrString]():   {isText: true, itself: opaqueAsJSON(intOrStringAsJSON)},
	reflect.TypeFor[metav1.Duration]():      {isText: true},
	reflect.TypeFor[metav1.FieldsV1]():      {isNull: true, itself: opaqueAsJSON(fieldsAsJSON)},
	reflect.TypeFor[runtime.RawExtension](): {isNull: true},
}

// opaque returns how to decode a leaf of a type into another one, nil if there is no
// way.
func (l leaf) opaque(from, into reflect.Type) *opaque {
	switch {
	case from == into && l.itself != nil:
		return l.itself
	case from == into,
		l.isText && into.Kind() == reflect.String && !decodesItself(into),
		l.isTime && into == reflect.TypeFor[time.Time]():
		return viaJSON(from, into)
	default:
		return nil
	}
}

// decodesItself reports whether JSON is decoded by a method of the type.
func decodesItself(of reflect.Type) bool {
	pointer := reflect.PointerTo(of)
	return pointer.Implements(reflect.TypeFor[json.Unmarshaler]()) || pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// encodesItself reports whether a type has a custom JSON encoding.
func encodesItself(of reflect.Type) bool {
	pointer := reflect.PointerTo(of)
	return pointer.Implements(reflect.TypeFor[json.Marshaler]()) || pointer.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// viaJSON decodes by generated code and JSON, see throughJSON.
func viaJSON(from, into reflect.Type) *opaque {
	return &opaque{
		decode: func(to unsafe.Pointer, data []byte) error {
			return throughJSON(from, data, reflect.NewAt(into, to).Interface())
		},
		equals: func(unsafe.Pointer, []byte) bool { return false },
	}
}

// throughJSON decodes a message of a type by generated code, makes JSON of the result, and
// decodes that.
func throughJSON(from reflect.Type, data []byte, into any) error {
	made := reflect.New(from).Interface()
	if err := made.(unmarshaler).Unmarshal(data); err != nil {
		return err
	}
	text, err := json.Marshal(made)
	if err != nil {
		return err
	}
	return utiljson.Unmarshal(text, into)
}

// opaqueAsJSON decodes a type into itself: by its own code, and then makes of the value
// what JSON would have made of it. Doing so twice changes nothing more, so a value that
// is what its own code makes of the bytes is also what comes out.
func opaqueAsJSON[V any](asJSON func(*V) error) *opaque {
	own := opaqueOf(reflect.TypeFor[V]())
	return &opaque{
		decode: func(to unsafe.Pointer, data []byte) error {
			if err := own.decode(to, data); err != nil {
				return err
			}
			return asJSON((*V)(to))
		},
		equals: own.equals,
	}
}

// notNull returns how to decode a value that is never null in JSON.
func (o *opaque) notNull(of reflect.Type) *opaque {
	return &opaque{
		decode: func(to unsafe.Pointer, data []byte) error {
			if err := o.decode(to, data); err != nil {
				return err
			}
			if reflect.NewAt(of, to).Elem().IsZero() {
				return errNotAsJSON
			}
			return nil
		},
		equals: o.equals,
	}
}

func timeAsJSON(t *metav1.Time) error           { return stdTimeAsJSON(&t.Time) }
func microTimeAsJSON(t *metav1.MicroTime) error { return stdTimeAsJSON(&t.Time) }

func stdTimeAsJSON(t *time.Time) error {
	if t.IsZero() {
		*t = time.Time{} // JSON has no place for it
	}
	if year := t.UTC().Year(); year < 0 || year > 9999 {
		return errNotAsJSON
	}
	return nil
}

// quantityAsJSON: JSON has the canonical text.
func quantityAsJSON(q *resource.Quantity) error {
	text, err := q.MarshalJSON()
	if err != nil {
		return err
	}
	return q.UnmarshalJSON(text)
}

// intOrStringAsJSON: JSON has one of the two.
func intOrStringAsJSON(v *intstr.IntOrString) error {
	switch {
	case v.Type == intstr.Int:
		v.StrVal = ""
	case v.Type == intstr.String && utf8.ValidString(v.StrVal):
		v.IntVal = 0
	default:
		return errNotAsJSON
	}
	return nil
}

// fieldsAsJSON: JSON has them without space, and with some letters escaped.
func fieldsAsJSON(f *metav1.FieldsV1) error {
	raw := f.GetRawBytes()
	switch {
	case len(raw) == 0:
		*f = metav1.FieldsV1{}
	case raw[0] != '{' || !isCompact(raw) || !json.Valid(raw):
		return errNotAsJSON
	}
	return nil
}

// isCompact reports whether JSON is as encoding/json writes it. It says no to some
// texts that are.
func isCompact(text []byte) bool {
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inString = !inString
		case c == '\\':
			i++
		case c <= ' ' && !inString, c == '<', c == '>', c == '&', c == 0xe2: // U+2028 begins so
			return false
		}
	}
	return true
}
