package plan

import (
	"cmp"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// From returns the plan that decodes messages of a type of the API, which has code for protobuf
// generated, into T, a pointer to any struct with JSON tags: fields of the one become those of
// the other that have their names in JSON. Fields that T does not name are skipped, and not
// looked at; for pool and mask see [New].
//
// The result is that of decoding the JSON of the object, see the package's documentation. The
// error says why there can be no plan.
func From[T any](api reflect.Type, pool *Pool, mask *Mask) (*Plan[T], error) {
	of := reflect.TypeFor[T]()
	pointers, err := parts.PointersTo[T](of)
	if err != nil {
		return nil, err
	}
	if generated, _ := unmarshals(api); !generated || encodesItself(api) {
		return nil, fmt.Errorf("a %v has no generated code for protobuf, or has a custom JSON encoding", api)
	}
	if decodesItself(of.Elem()) {
		return nil, fmt.Errorf("a %v has a custom JSON decoding", of)
	}
	pool = cmp.Or(pool, &Pool{})
	root, err := pool.made(func(b *builder) (*message, error) { return b.own(api, of.Elem(), mask, true) })
	if err != nil {
		return nil, fmt.Errorf("a plan to decode a %v from a %v: %w", of, api, err)
	}
	return &Plan[T]{pointers: pointers, root: root, pool: pool, api: api}, nil
}

// DecodeAnyway decodes an object where Decode has returned false, for a plan of [From]: by the
// generated code of the API type, and the JSON of the result.
func (p *Plan[T]) DecodeAnyway(data []byte) (T, error) {
	made := reflect.New(p.root.of).Interface()
	return made.(T), throughJSON(p.api, data, made)
}

// SetKind sets the kind of an object, if a struct of [From] has fields for it. The kind is part
// of an object in JSON, and separate from it in protobuf.
func (p *Plan[T]) SetKind(obj T, kind metav1.TypeMeta) {
	p.root.kept.set(p.pointers.To(obj), kind)
}
