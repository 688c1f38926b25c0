package wire

// Mapped returns a codec whose objects are what a function makes of those of a NewCodec and the
// bytes of each, which are valid until it returns. Event is false for items of lists. The
// function is called from several goroutines.
func Mapped[T, R any](codec Codec[T], of func(obj T, bytes []byte, event bool) R) Codec[R] {
	return &mappedCodec[T, R]{codec, of}
}

type mappedCodec[T, R any] struct {
	Codec[T] // of which Event and Item are hidden
	of       func(obj T, bytes []byte, event bool) R
}

// Event implements Codec. The function is called when the kind of the object has been read, so
// that it may set it.
func (c *mappedCodec[T, R]) Event(frame []byte) (Event[R], error) {
	var bytes []byte // of the frame, or in place of a part of it
	e, err := Packing(c.Codec, func(_ T, object []byte) { bytes = object }).Event(frame)
	mapped := Event[R]{Type: e.Type, Kind: e.Kind, Invalid: e.Invalid, Bookmark: e.Bookmark, Status: e.Status}
	if err == nil && e.Invalid == nil && bytes != nil {
		mapped.Object = c.of(e.Object, bytes, true)
	}
	return mapped, err
}

// Item implements Codec.
func (c *mappedCodec[T, R]) Item(item []byte) (R, error) {
	obj, err := c.Codec.Item(item)
	if err != nil {
		return *new(R), err
	}
	return c.of(obj, item, false), nil
}
