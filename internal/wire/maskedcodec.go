package wire

import "github.com/kubetyped/informer/internal/plan"

// maskedCodec leaves fields out of what a codec has decoded.
type maskedCodec[T any] struct {
	Codec[T]
	mask *plan.Mask
}

// Event implements Codec.
func (c maskedCodec[T]) Event(frame []byte) (Event[T], error) {
	event, err := c.Codec.Event(frame)
	if err == nil && event.Invalid == nil && event.Bookmark == nil && event.Status == nil {
		c.mask.Apply(event.Object)
	}
	return event, err
}

// Item implements Codec.
func (c maskedCodec[T]) Item(item []byte) (T, error) {
	obj, err := c.Codec.Item(item)
	if err == nil {
		c.mask.Apply(obj)
	}
	return obj, err
}
