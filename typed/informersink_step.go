package typed

import (
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/source"
)

// Step implements source.Stepper.
func (s *informerSink[T]) Step(changes []source.Change[T], resourceVersion string, done func()) {
	deltas := make([]queue.Delta[T], 0, len(changes))
	for _, c := range changes {
		var none T
		if c.Deleted && c.Object != none {
			key := index.KeyOf(c.Object)
			if obj, ok := s.admit(c.Object, resourceVersion, false); ok {
				deltas = append(deltas, queue.Delta[T]{Type: queue.Delete, Object: obj})
			} else {
				s.repair(key)
				deltas = append(deltas, queue.Delta[T]{Type: queue.Delete, Name: (*queue.ObjectName)(&key)})
			}
		} else if obj, ok := s.admit(c.Object, resourceVersion, false); ok && !s.isFirst(obj, resourceVersion) {
			deltas = append(deltas, queue.Delta[T]{Type: queue.Put, Object: obj})
		}
	}
	if !s.swallows(resourceVersion) {
		s.DeltaFIFO.Step(deltas, resourceVersion, done)
	}
}
