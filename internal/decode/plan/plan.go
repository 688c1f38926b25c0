package plan

import (
	"cmp"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// Plan decodes messages into values of the struct that T points at. It may be used
// by several goroutines at once.
type Plan[T any] struct {
	pointers parts.Pointers[T]
	root     *message
	pool     *Pool
	decoded  atomic.Uint64 // objects
	api      reflect.Type  // of the messages; nil: T's own
}

// New returns the plan of a type, a pointer to a struct that has code for protobuf generated,
// which is T, or implements it. Parts are shared by way of pool, and not at all if it is nil.
// Fields that mask leaves out are skipped, and not looked at. The error says why there can be
// no plan.
func New[T any](of reflect.Type, pool *Pool, mask *Mask) (*Plan[T], error) {
	pointers, err := parts.PointersTo[T](of)
	if err != nil {
		return nil, err
	}
	if generated, _ := unmarshals(of.Elem()); !generated {
		return nil, fmt.Errorf("a %v has no generated code for protobuf", of)
	}
	pool = cmp.Or(pool, &Pool{})
	root, err := pool.plan(of.Elem(), mask)
	if err != nil {
		return nil, fmt.Errorf("a plan to decode a %v: %w", of, err)
	}
	return &Plan[T]{pointers: pointers, root: root, pool: pool}, nil
}

// Decode decodes an object into a new T. It returns false where the generated code
// has to decide what comes out, or whether there is an error.
//
// The object is deduplicated with others of the pool, and with like, an earlier state of the
// object or nil. None of them may be modified, ever. It does not refer to data.
func (p *Plan[T]) Decode(data []byte, like T) (T, bool) {
	return p.decode(false, data, like)
}

// DecodeNew is Decode for an object without an earlier state; like is one that it
// probably has parts in common with, or nil.
func (p *Plan[T]) DecodeNew(data []byte, like T) (T, bool) {
	return p.decode(true, data, like)
}

func (p *Plan[T]) decode(related bool, data []byte, like T) (T, bool) {
	recent := recents.Get().(*parts.Recent)
	defer recents.Put(recent)
	d := decoder{parts: p.pool.parts, recent: recent, own: p.api != nil, related: related, trial: parts.IsTrial(p.decoded.Add(1)), spare: len(data)}
	made := reflect.New(p.root.of)
	if !d.message(p.root, made.UnsafePointer(), p.pointers.To(like), data) || d.unfit {
		return *new(T), false
	}
	return made.Interface().(T), true
}

// recents are the texts of decoders, each for one goroutine. The collector frees those that are not
// used.
var recents = sync.Pool{New: func() any { return new(parts.Recent) }}
