package jsontree

import (
	"encoding/json"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/kubetyped/informer/internal/decode/parts"
	"github.com/kubetyped/informer/internal/decode/plan"
)

// Structs decodes JSON objects into values of the struct that T points at, by a plan of
// its fields that is made from their tags. It may be used by several goroutines at once.
type Structs[T any] struct {
	*Decoder
	pointers parts.Pointers[T]
	root     *node
}

// NewStructs returns the decoder of the fields of mask of a type, a pointer to a struct, which is
// T, or implements it. The others are checked, and not kept. The error says why there can be no
// decoder.
func NewStructs[T any](of reflect.Type, mask *plan.Mask) (*Structs[T], error) {
	pointers, err := parts.PointersTo[T](of)
	if err != nil {
		return nil, err
	}
	if of.Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil, fmt.Errorf("a %v has custom decoding", of)
	}
	build := planner{made: map[masked]*node{}}
	root, err := build.node(of.Elem(), mask)
	if err != nil {
		return nil, fmt.Errorf("a plan to decode a %v: %w", of, err)
	}
	for _, name := range []string{"apiVersion", "kind"} {
		if f := root.fields[name]; f != nil {
			f.stamped = true
		}
	}
	return &Structs[T]{New(false, nil), pointers, root}, nil
}

// Decode decodes an object into a new T. It returns false where apimachinery's decoder
// has to decide what comes out, or whether there is an error.
//
// The object is deduplicated with like, an object that it probably has parts in common with,
// such as an earlier state, or nil. Neither may be modified, ever. The object does not refer to
// text. Its kind may be set later, while it is the like of other calls: they do not read it.
func (s *Structs[T]) Decode(text []byte, like T) (T, bool) {
	made, ok := s.decodeStruct(s.root, text, s.pointers.To(like))
	if !ok {
		return *new(T), false
	}
	return made.Interface().(T), true
}

func (d *Decoder) decodeStruct(root *node, text []byte, like unsafe.Pointer) (reflect.Value, bool) {
	p := d.passes.Get().(*pass)
	p.text, p.pos, p.spare = text, 0, spareRoom
	made := reflect.New(root.of)
	ok := p.next() == '{' && p.decode(root, made.UnsafePointer(), like) && p.next() == 0 && p.pos == len(p.text)
	if p.reset() {
		d.passes.Put(p)
	}
	return made, ok
}
