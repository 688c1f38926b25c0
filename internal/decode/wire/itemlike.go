package wire

import (
	"sync"

	"github.com/kubetyped/informer/internal/decode/plan"
)

// unpooled makes the plans of ItemLike, one for a type.
var unpooled = sync.OnceValue(func() *plan.Pool { return new(plan.Pool) })

// ItemLike does as Item of a NewCodec without held, but an object in protobuf refers to the parts
// of like, another state of it, that are equal, and allocates the others alone. The two must not
// be modified then.
func ItemLike[T any](codec Codec[T], item []byte, like T) (T, error) {
	if c, ok := codec.(*protobufCodec[T]); ok && c.alike != nil {
		if obj, ok := c.decodeLike(item, like); ok {
			return obj, nil
		}
	}
	return codec.Item(item)
}

// decodeLike returns false where the generated code has to decide, or if a modification of like
// while it was read made that panic.
func (c *protobufCodec[T]) decodeLike(item []byte, like T) (obj T, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	if p := c.alike(); p != nil {
		return p.Decode(item, like)
	}
	return obj, false
}
