package source

import "github.com/kubetyped/informer/index"

// Sharer is a Sink that may be given objects which share parts with each other. A
// source that decodes objects shares parts if its sink is one.
type Sharer[T index.Object] interface {
	Sink[T]
	// Share returns a function that returns the object of a key as it is held now, for
	// the next state of it to share parts with. It may be called by several
	// goroutines at once, and does not keep the key. Share returns nil if objects
	// must have all parts for themselves, since who gets them modifies them.
	Share() func(key index.Key) (T, bool)
}

// ShareOf returns what a sink's Share returns, nil if it has none.
func ShareOf[T index.Object](sink Sink[T]) func(key index.Key) (T, bool) {
	if sharer, ok := sink.(Sharer[T]); ok {
		return sharer.Share()
	}
	return nil
}

// Share implements Sharer.
func (s *namespaceSink[T]) Share() func(index.Key) (T, bool) { return ShareOf(s.sink) }
