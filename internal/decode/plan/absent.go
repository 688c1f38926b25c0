package plan

import (
	"fmt"
	"reflect"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// complete sets the fields that JSON has though the message, of whose fields some were
// seen, does not; and unsets those that JSON does not have though the message does.
func (d *decoder) complete(m *message, to unsafe.Pointer, seen *parts.FieldSet) bool {
	for _, number := range m.absent {
		f := &m.fields[number]
		at := unsafe.Add(to, f.Offset)
		switch {
		case f.isNil:
			if f.isZeroAt(to) {
				*(*unsafe.Pointer)(at) = nil
			}
		case seen.Has(f.ordinal):
		case f.shape == pointer:
			p := reflect.New(f.elem).UnsafePointer()
			if !d.empty(f, p) {
				return false
			}
			*(*unsafe.Pointer)(at) = p
		case !d.empty(f, at):
			return false
		}
	}
	return true
}

// isZeroAt reports whether a field of the struct at p points at zero.
func (f *field) isZeroAt(p unsafe.Pointer) bool {
	value := *(*unsafe.Pointer)(unsafe.Add(p, f.Offset))
	return value != nil && reflect.NewAt(f.elem, value).Elem().IsZero()
}

// empty decodes a value without any bytes.
func (d *decoder) empty(f *field, at unsafe.Pointer) bool {
	switch f.kind {
	case kindMessage:
		return d.message(f.message, at, nil, nil)
	case kindOpaque:
		return f.opaque.decode(at, nil) == nil
	default:
		return true
	}
}

// kept is where objects have their kind, which is not in their messages.
type kept struct{ apiVersion, kind []uintptr }

// add notes a field that is one of the kind's.
func (k *kept) add(f jsonField) error {
	if f.of.Kind() != reflect.String || decodesItself(f.of) {
		return fmt.Errorf("no conversion of a string to a %v", f.of)
	}
	if f.name == "kind" {
		k.kind = append(k.kind, f.offset)
	} else {
		k.apiVersion = append(k.apiVersion, f.offset)
	}
	return nil
}

// set gives an object a kind.
func (k *kept) set(obj unsafe.Pointer, kind metav1.TypeMeta) {
	for _, offset := range k.kind {
		*(*string)(unsafe.Add(obj, offset)) = kind.Kind
	}
	for _, offset := range k.apiVersion {
		*(*string)(unsafe.Add(obj, offset)) = kind.APIVersion
	}
}
