package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// own returns the plan of a type whose fields have the names in JSON that those of a
// type of the API have: of messages of that into this.
func (b *builder) own(api, into reflect.Type, mask *Mask, root bool) (*message, error) {
	key := masked{into, api, mask, root}
	if m, ok := b.made[key]; ok {
		return m, nil
	}
	if err := checkGenerated(api); err != nil {
		return nil, err
	}
	m := &message{of: into}
	b.made[key] = m
	theirs, err := jsonFields(api)
	if err != nil {
		return nil, err
	}
	ours, err := jsonFields(into)
	if err != nil {
		return nil, err
	}
	// What JSON makes of a message without fields.
	empty := reflect.New(into)
	text, err := json.Marshal(reflect.New(api).Interface())
	if err == nil {
		err = utiljson.Unmarshal(text, empty.Interface())
	}
	if err != nil {
		return nil, err
	}
	decoded := map[uintptr]bool{}
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		our, their := ours[name], theirs[name]
		within, wanted := mask.Field(name)
		if !wanted {
			continue
		}
		if our.of.Size() > 0 {
			decoded[our.offset] = true
		}
		switch {
		case their.name == "":
			err = fmt.Errorf("a %v has no such field", api)
		case root && their.isOfTypeMeta(api):
			err = m.kept.add(our)
		default:
			err = b.pair(m, api, their, our, within, empty.Elem().FieldByIndex(our.index))
		}
		if err != nil {
			return nil, fmt.Errorf("%v, %q: %w", into, name, err)
		}
	}
	m.left = unnamed(into, 0, decoded)
	m.finish()
	return m, nil
}

// isOfTypeMeta reports whether a field of a type is one of its kind, which is not in
// its messages.
func (f jsonField) isOfTypeMeta(api reflect.Type) bool {
	return len(f.index) == 2 && api.Field(f.index[0]).Type == reflect.TypeFor[metav1.TypeMeta]()
}

// pair adds the field of the API type to the plan, to be decoded into ours. empty is what
// JSON makes of it when the message has no such field.
func (b *builder) pair(m *message, api reflect.Type, their, our jsonField, within *Mask, empty reflect.Value) error {
	f, err := b.ownField(their, our, within, empty)
	if err != nil {
		return err
	}
	f.Memory = parts.Memory{Offset: uint32(our.offset), Length: uint32(our.of.Size())}
	for _, i := range their.index[:len(their.index)-1] {
		// A field that JSON has inline is a separate message in protobuf.
		outer := api.Field(i)
		if m, err = b.inline(m, outer); err != nil {
			return err
		}
		api = outer.Type
	}
	number, err := fieldNumber(api.Field(their.index[len(their.index)-1]).Tag.Get("protobuf"))
	if err != nil {
		return err
	}
	return m.put(number, f)
}

// inline returns the plan of a message whose fields are decoded into the same struct as
// those of m.
func (b *builder) inline(m *message, of reflect.StructField) (*message, error) {
	number, err := fieldNumber(of.Tag.Get("protobuf"))
	if err != nil {
		return nil, err
	}
	if f := m.field(number); f != nil {
		return f.message, nil
	}
	if generated, _ := unmarshals(of.Type); !generated {
		return nil, fmt.Errorf("unknown encoding of a %v", of.Type)
	}
	if err := checkGenerated(of.Type); err != nil {
		return nil, err
	}
	f := field{kind: kindMessage, wire: bytesType, inline: true, message: &message{of: m.of}}
	return f.message, m.put(number, f)
}

// finish notes what is to be done when all fields of a message have been decoded.
func (m *message) finish() {
	for _, number := range m.known {
		f := &m.fields[number]
		if f.inline {
			f.message.finish()
			f.isThere = f.message.absent != nil
		}
		if f.isThere || f.isNil {
			m.absent = append(m.absent, number)
		}
	}
}

// ownField returns the plan of a field of an API type into one of ours.
func (b *builder) ownField(their, our jsonField, within *Mask, empty reflect.Value) (field, error) {
	f := field{fieldTypes: &fieldTypes{of: our.of}, whole: b.site(), each: b.site()}
	from, into := their.of, our.of
	isPointer := from.Kind() == reflect.Pointer
	if isPointer {
		from = from.Elem()
	}
	if into.Kind() == reflect.Pointer && into.Name() == "" {
		f.shape, into = pointer, into.Elem()
	}
	switch {
	case hasMethods(from):
	case from.Kind() == reflect.Slice && (isPointer || f.shape == pointer):
		return f, mismatch(their.of, our.of)
	case from.Kind() == reflect.Slice && from.Elem().Kind() != reflect.Uint8:
		if into.Kind() != reflect.Slice || decodesItself(into) {
			return f, mismatch(their.of, our.of)
		}
		f.shape, from, into = slice, from.Elem(), into.Elem()
	case from.Kind() == reflect.Map:
		if isPointer || f.shape == pointer || !isTable(from) || !isTable(into) || decodesItself(into) || decodesItself(into.Key()) || encodesItself(from.Key()) {
			return f, mismatch(their.of, our.of)
		}
		f.shape, from, into = table, from.Elem(), into.Elem()
		f.key = &field{kind: kindString, each: b.site()}
	}
	f.elem, f.size, f.wire = into, uint32(into.Size()), bytesType
	if err := b.ownKind(&f, from, into, within); err != nil {
		return f, err
	}
	f.caches = (f.shape == pointer || f.shape == slice) && Caches(f.elem)
	if f.size == 0 || f.caches {
		f.whole = nil // nothing is allocated, or shared
	}
	if f.shape == table && f.wire != bytesType {
		return f, mismatch(their.of, our.of)
	}
	f.emptyIsNil = f.kind == kindBytes && f.shape == single && their.omitEmpty
	return f, f.whenAbsent(their, isPointer, empty)
}

// whenAbsent sets what becomes of a field that is not in a message, or has no value that
// is in JSON.
func (f *field) whenAbsent(their jsonField, isPointer bool, empty reflect.Value) error {
	if their.omitZero && isZeroer(their.of) && !leaves[their.of].isTime {
		return errors.New("custom rule to omit the field")
	}
	known, isLeaf := leaves[deref(their.of)]
	switch {
	case f.shape == slice || f.shape == table:
	case isPointer:
		if isLeaf && known.isNull {
			f.opaque = f.opaque.notNull(f.elem)
		}
	case f.shape == pointer:
		f.isNil, f.isThere = empty.IsNil(), !empty.IsNil()
	default:
		f.isThere = !empty.IsZero()
	}
	if f.kind == kindMessage && their.omitZero && (f.isNil || f.isThere) {
		return errors.New("field is omitted if zero, which one of its parts does not show")
	}
	return nil
}

// ownKind sets how values of an API type are encoded, to be decoded into ours.
func (b *builder) ownKind(f *field, from, into reflect.Type, within *Mask) error {
	if hasMethods(from) {
		if known, ok := leaves[from]; ok {
			f.kind, f.opaque = kindOpaque, known.opaque(from, into)
		}
		if f.opaque == nil {
			return mismatch(from, into)
		}
		return nil
	}
	if decodesItself(into) {
		return mismatch(from, into)
	}
	generated, _ := unmarshals(from)
	switch kind := from.Kind(); {
	case generated && into.Kind() == reflect.Struct:
		f.kind = kindMessage
		var err error
		f.message, err = b.own(from, into, within, false)
		return err
	case kind == reflect.Int32 && into.Kind() != kind && (into.Kind() == reflect.Int64 || into.Kind() == reflect.Int && into.Size() == 8):
		f.kind, f.wire = kindWide, varintType
	case kind == reflect.Int32 && into.Kind() == reflect.Int: // of 32 bits
		f.kind, f.wire = kind32, varintType
	case kind == reflect.Int64 && into.Kind() == reflect.Int && into.Size() == 8:
		f.kind, f.wire = kind64, varintType
	case kind == reflect.Slice && into.Kind() == reflect.Slice && from.Elem().Kind() == reflect.Uint8 && into.Elem().Kind() == reflect.Uint8:
		f.kind = kindBytes
	case kind != into.Kind() || kind == reflect.Slice || kind == reflect.Struct:
		return mismatch(from, into)
	default:
		return b.kind(f, into, within)
	}
	return nil
}

func mismatch(from, into reflect.Type) error {
	return fmt.Errorf("no conversion of a %v to a %v", from, into)
}

// hasMethods reports whether a type has a custom encoding in JSON or protobuf.
func hasMethods(of reflect.Type) bool {
	generated, ok := unmarshals(of)
	return encodesItself(of) || ok && !generated
}

func isTable(of reflect.Type) bool {
	return of.Kind() == reflect.Map && of.Key().Kind() == reflect.String
}

func deref(of reflect.Type) reflect.Type {
	if of.Kind() == reflect.Pointer {
		return of.Elem()
	}
	return of
}

// isZeroer reports whether a type says itself which of its values omitzero leaves out.
func isZeroer(of reflect.Type) bool {
	return reflect.PointerTo(deref(of)).Implements(reflect.TypeFor[interface{ IsZero() bool }]())
}
