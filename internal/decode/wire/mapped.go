package wire

// Mapped returns a codec whose objects are what a function makes of those of a NewCodec and the
// bytes of each, which are valid until it returns. Event is false for items of lists. The
// function is called from several goroutines.
func Mapped[T, R any](codec Codec[T], of func(obj T, bytes []byte, event bool) R) Codec[R] {
	return mappedCodec[T, R]{codec, of}
}

type mappedCodec[T, R any] struct {
	Codec[T] // of which Event and Item are hidden
	of       func(obj T, bytes []byte, event bool) R
}

// Event implements Codec.
func (c mappedCodec[T, R]) Event(frame []byte) (Event[R], error) {
	var object R
	e, err := Packing(c.Codec, func(obj T, bytes []byte) { object = c.of(obj, bytes, true) }).Event(frame)
	return Event[R]{Type: e.Type, Kind: e.Kind, Object: object, Invalid: e.Invalid, Bookmark: e.Bookmark, Status: e.Status}, err
}

// Item implements Codec.
func (c mappedCodec[T, R]) Item(item []byte) (R, error) {
	obj, err := c.Codec.Item(item)
	if err != nil {
		var none R
		return none, err
	}
	return c.of(obj, item, false), nil
}
