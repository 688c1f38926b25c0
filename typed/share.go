package typed

import "github.com/kubetyped/informer/index"

// Share implements source.Sharer. A transform may modify what it is given, so objects
// share nothing if there is one.
func (s *informerSink[T]) Share() func(index.Key) (T, bool) {
	if s.transform != nil {
		return nil
	}
	return s.held
}
