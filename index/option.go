package index

// Option sets up an Indexer. The functions that options take are called by the goroutine that
// writes, before anything is changed and without the readers' lock: if one panics, nothing has
// changed and the panic reaches the writer. They may read, and must not write.
type Option[T Object] func(*options[T])

type options[T Object] struct {
	recreated func(old, updated T) bool
	unchanged func(old, updated T) bool

	literal    bool
	keyStrings bool
}

// WithRecreated makes a write that replaces old by updated give two events if
// recreated reports true for the two, a deletion and an addition, both with
// the reason Recreated. Without it, and for all other objects, it is one
// update.
func WithRecreated[T Object](recreated func(old, updated T) bool) Option[T] {
	return func(o *options[T]) { o.recreated = recreated }
}

// WithUnchanged makes Replace keep the object that is there, and give no event
// for it, if unchanged reports true for it and the one in the list.
func WithUnchanged[T Object](unchanged func(old, updated T) bool) Option[T] {
	return func(o *options[T]) { o.unchanged = unchanged }
}

// WithLiteralEvents makes events repeat what the writer said, as client-go's do, even
// where the store says otherwise:
//
//   - Apply gives an event for a deletion of an object that is not there, too;
//     Old is then the zero T. Otherwise, and for a Change with a Key, it gives
//     none.
//   - Replace compares each object of a list that has a key twice with the state
//     before the list. Otherwise the second one is an update of the first.
func WithLiteralEvents[T Object]() Option[T] {
	return func(o *options[T]) { o.literal = true }
}

// WithKeyStrings makes GetByKeyString as fast as it can be, for stores whose users have
// keys as strings: an object is found by one hash and one comparison of the string. Get
// joins the key that it is given; it is some nanoseconds slower for that.
//
// As in client-go's stores, keys of the same string, such as {"", "a/b"} and {"a", "b"}, are one:
// the store must not get objects of both. No name of a Kubernetes object has a slash.
func WithKeyStrings[T Object]() Option[T] {
	return func(o *options[T]) { o.keyStrings = true }
}
