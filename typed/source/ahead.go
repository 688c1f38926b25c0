package source

import "github.com/kubetyped/informer/index"

// Leading is a Source that reports own writes before its watch does, such as one of package
// kube with kube.WithWrites.
type Leading interface {
	// Ahead returns how many objects were reported in a state that the watch has not come to,
	// and the highest of their versions. It may be called at any time, by several goroutines,
	// and does not wait.
	Ahead() (keys int, highest uint64)
}

// AheadOf returns how far a source is ahead of its watch, zeros if it is not Leading.
func AheadOf[T index.Object](src Source[T]) (keys int, highest uint64) {
	if leading, ok := src.(Leading); ok {
		return leading.Ahead()
	}
	return 0, 0
}

// Ahead implements Leading.
func (s *projectedSource[A, B]) Ahead() (keys int, highest uint64) { return AheadOf(s.source) }

// Ahead implements Leading.
func (o *Opened[T]) Ahead() (keys int, highest uint64) {
	for _, src := range o.now() {
		n, version := AheadOf(*src)
		keys, highest = keys+n, max(highest, version)
	}
	return keys, highest
}

// Ahead implements Leading.
func (s *namespacesSource[T]) Ahead() (keys int, highest uint64) { return s.opened.Ahead() }
