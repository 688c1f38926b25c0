package plan

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// builder makes the plans of messages.
type builder struct {
	made  map[masked]*message
	sites uint32
}

// masked is a type, of which some fields are decoded.
type masked struct {
	of   reflect.Type
	from reflect.Type // the type of the messages; nil: of itself
	mask *Mask        // nil: all
	root bool         // with from: it is of whole objects
}

// message returns the plan of a type that has generated code. A plan is made once,
// also for a type that has itself in it.
func (b *builder) message(of reflect.Type, mask *Mask) (*message, error) {
	key := masked{of: of, mask: mask}
	if m, ok := b.made[key]; ok {
		return m, nil
	}
	if err := checkGenerated(of); err != nil {
		return nil, err
	}
	m := &message{of: of}
	b.made[key] = m
	for f := range of.Fields() {
		tag := f.Tag.Get("protobuf")
		within, decoded := mask.structField(f)
		switch {
		case tag == "" || tag == "-" || !decoded:
			m.left = append(m.left, parts.MemoryOf(0, f))
		default:
			if err := b.add(m, f, tag, within); err != nil {
				return nil, fmt.Errorf("%v.%s: %w", of, f.Name, err)
			}
		}
	}
	return m, nil
}

// add adds a field to a message.
func (b *builder) add(m *message, of reflect.StructField, tag string, within *Mask) error {
	number, err := fieldNumber(tag)
	if err != nil {
		return err
	}
	f, err := b.field(of.Type, within)
	if err != nil {
		return err
	}
	f.Memory = parts.MemoryOf(0, of)
	return m.put(number, f)
}

// fieldNumber returns the number in a tag. Of tags, only that is used: some have more
// that is not how the field is encoded.
func fieldNumber(tag string) (uint64, error) {
	_, rest, _ := strings.Cut(tag, ",")
	text, _, _ := strings.Cut(rest, ",")
	number, err := strconv.ParseUint(text, 10, 16)
	if err != nil || number == 0 {
		return 0, fmt.Errorf("the tag `protobuf:%q` has no number", tag)
	}
	return number, nil
}

// put adds a field of a number.
func (m *message) put(number uint64, f field) error {
	if len(m.known) == parts.MaxFields {
		return fmt.Errorf("more than %d fields", parts.MaxFields)
	}
	f.ordinal = uint8(len(m.known))
	for uint64(len(m.fields)) <= number {
		m.fields = append(m.fields, field{})
	}
	if m.fields[number].kind != kindNone {
		return fmt.Errorf("two fields of number %d", number)
	}
	m.fields[number] = f
	m.known, m.memory = append(m.known, number), append(m.memory, f.Memory)
	return nil
}

// field returns the plan of a field of a type.
func (b *builder) field(of reflect.Type, within *Mask) (field, error) {
	f := field{fieldTypes: &fieldTypes{of: of}, whole: b.site(), each: b.site()}
	one := of
	_, whole := unmarshals(of)
	switch {
	case whole:
	case of.Kind() == reflect.Slice && of.Elem().Kind() != reflect.Uint8:
		f.shape, one = slice, of.Elem()
	case of.Kind() == reflect.Map && of.Key().Kind() == reflect.String:
		f.shape, one = table, of.Elem()
		f.key = &field{kind: kindString, each: b.site()}
	case of.Kind() == reflect.Pointer:
		f.shape, one = pointer, of.Elem()
	}
	f.elem, f.size, f.wire = one, uint32(one.Size()), bytesType
	if err := b.kind(&f, one, within); err != nil {
		return f, err
	}
	f.caches = (f.shape == pointer || f.shape == slice) && Caches(f.elem)
	if f.size == 0 || f.caches {
		f.whole = nil // nothing is allocated, or shared
	}
	if f.shape == table && f.wire != bytesType {
		return f, fmt.Errorf("maps of %v are not known", one)
	}
	return f, nil
}

// kind sets how values of a type are encoded.
func (b *builder) kind(f *field, of reflect.Type, within *Mask) error {
	if generated, ok := unmarshals(of); generated {
		f.kind = kindMessage
		var err error
		f.message, err = b.message(of, within)
		return err
	} else if ok {
		f.kind, f.opaque = kindOpaque, opaqueOf(of)
		return nil
	}
	switch of.Kind() {
	case reflect.String:
		f.kind = kindString
	case reflect.Bool:
		f.kind, f.wire = kindBool, varintType
	case reflect.Int32, reflect.Uint32:
		f.kind, f.wire = kind32, varintType
	case reflect.Int64, reflect.Uint64:
		f.kind, f.wire = kind64, varintType
	case reflect.Slice:
		if of.Elem().Kind() == reflect.Uint8 {
			f.kind = kindBytes
			return nil
		}
		fallthrough
	default:
		return fmt.Errorf("unknown encoding of a %v", of)
	}
	return nil
}

// site returns a place that no other has the number of.
func (b *builder) site() *site {
	if b.sites == math.MaxUint32 {
		return nil // no more are shared: a number must not mean two types
	}
	b.sites++
	return &site{id: b.sites}
}
