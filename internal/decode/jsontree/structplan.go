package jsontree

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/kubetyped/informer/internal/decode/parts"
	"github.com/kubetyped/informer/internal/decode/plan"
)

// nodeKind says how values of a type are decoded.
type nodeKind uint8

const (
	stringNode nodeKind = iota
	boolNode
	intNode
	uintNode
	floatNode
	bytesNode
	structNode
	pointerNode
	sliceNode
	mapNode
	anyNode
	opaqueNode // a type with custom decoding
)

// node is the plan of a type.
type node struct {
	of     reflect.Type
	kind   nodeKind
	elem   *node             // of a pointer, slice or map
	fields map[string]*field // of a struct, by their names
	memory []parts.Memory    // of the decoded fields, by ordinal
	left   []parts.Memory    // what decoding leaves as it is
	opaque *opaque
	caches bool // memory of the type is not shared, see plan.Caches
}

// field is a field of a struct.
type field struct {
	*node
	parts.Memory
	ordinal uint8
	// stamped says that other code writes to the field after an object was decoded: Decode does
	// not read it in the object that it compares with.
	stamped bool
}

// masked is a type, of which some fields are decoded.
type masked struct {
	of   reflect.Type
	mask *plan.Mask // nil: all
}

// planner makes the plans of types.
type planner struct{ made map[masked]*node }

// node returns the plan of a type. A plan is made once, also for a type that has itself
// in it.
func (b *planner) node(of reflect.Type, mask *plan.Mask) (*node, error) {
	if n, ok := b.made[masked{of, mask}]; ok {
		return n, nil
	}
	n := &node{of: of, caches: plan.Caches(of)}
	b.made[masked{of, mask}] = n
	pointer := reflect.PointerTo(of)
	switch {
	case of.Name() == "" && of.Kind() == reflect.Struct && pointer.NumMethod() > 0:
		return nil, fmt.Errorf("a %v has methods and no name", of)
	case of.Kind() != reflect.Pointer && pointer.Implements(reflect.TypeFor[json.Unmarshaler]()):
		n.kind, n.opaque = opaqueNode, opaqueOf(of)
		return n, nil
	case of.Implements(reflect.TypeFor[json.Unmarshaler]()) && of.Kind() != reflect.Pointer,
		of.Kind() != reflect.Pointer && pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()),
		of == reflect.TypeFor[json.Number]():
		return nil, fmt.Errorf("a %v has custom decoding", of)
	}
	return n, b.shape(n, mask)
}

// shape sets how a type without methods is decoded.
func (b *planner) shape(n *node, mask *plan.Mask) (err error) {
	of := n.of
	switch of.Kind() {
	case reflect.String:
		n.kind = stringNode
	case reflect.Bool:
		n.kind = boolNode
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n.kind = intNode
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n.kind = uintNode
	case reflect.Float32, reflect.Float64:
		n.kind = floatNode
	case reflect.Interface:
		if n.kind = anyNode; of.NumMethod() > 0 {
			return fmt.Errorf("a %v has methods", of)
		}
	case reflect.Pointer:
		if n.kind = pointerNode; of.Elem().Kind() == reflect.Pointer {
			return fmt.Errorf("a %v is a pointer to one", of)
		}
		n.elem, err = b.node(of.Elem(), mask)
	case reflect.Slice:
		n.kind = sliceNode
		if n.elem, err = b.node(of.Elem(), mask); of.Elem().Kind() == reflect.Uint8 {
			n.kind = bytesNode
		}
	case reflect.Map:
		n.kind = mapNode
		if of.Key().Kind() != reflect.String || reflect.PointerTo(of.Key()).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
			return fmt.Errorf("the keys of a %v are no plain strings", of)
		}
		n.elem, err = b.node(of.Elem(), mask)
	case reflect.Struct:
		n.kind, n.fields = structNode, map[string]*field{}
		err = b.addFields(n, of, 0, mask)
	default:
		return fmt.Errorf("a %v is none that JSON is decoded into", of)
	}
	return err
}

// addFields adds the fields of a struct, or of one that is embedded in it, to its plan.
func (b *planner) addFields(n *node, of reflect.Type, offset uintptr, mask *plan.Mask) error {
	for f := range of.Fields() {
		m := parts.MemoryOf(offset, f)
		tag := f.Tag.Get("json")
		_, options, _ := strings.Cut(tag, ",")
		name, inline := plan.JSONName(f)
		switch {
		case tag == "-" || !f.IsExported() && !f.Anonymous:
			n.left = append(n.left, m)
			continue
		case inline && f.Type.Kind() == reflect.Struct:
			if err := b.addFields(n, f.Type, offset+f.Offset, mask); err != nil {
				return err
			}
			continue
		// Of unexported embedded types, apimachinery does not call UnmarshalJSON.
		case f.Anonymous && !f.IsExported() && reflect.PointerTo(f.Type).Implements(reflect.TypeFor[json.Unmarshaler]()),
			f.Anonymous && (f.Type.Kind() == reflect.Pointer || !f.IsExported() && f.Type.Kind() != reflect.Struct), strings.Contains(options, "string"):
			return fmt.Errorf("%v.%s is decoded in an unusual way", of, f.Name)
		}
		if err := b.addField(n, name, f.Type, m, mask); err != nil {
			return fmt.Errorf("%v.%s: %w", of, f.Name, err)
		}
	}
	return nil
}

func (b *planner) addField(n *node, name string, of reflect.Type, m parts.Memory, mask *plan.Mask) error {
	if _, twice := n.fields[name]; twice || len(n.memory) == parts.MaxFields {
		return errors.New("field name given twice, or too many fields")
	}
	within, decoded := mask.Field(name)
	f := &field{Memory: m, ordinal: uint8(len(n.memory))}
	n.fields[name] = f
	if !decoded {
		n.left = append(n.left, m)
		return nil
	}
	var err error
	f.node, err = b.node(of, within)
	n.memory = append(n.memory, m)
	return err
}
