package typed

import (
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/source"
)

// ReplacePart implements Sink.
func (s *informerSink[T]) ReplacePart(list []source.Staged, gone []index.Key, reason index.Reason, resourceVersion string) {
	objs, _ := source.Kept[T](list)
	deltas := make([]queue.Delta[T], 0, len(gone)+len(objs))
	for i := range gone {
		s.repair(gone[i])
		deltas = append(deltas, queue.Delta[T]{Type: queue.Remove, Reason: queue.Reason(reason), Name: (*queue.ObjectName)(&gone[i])})
	}
	for _, obj := range objs {
		deltas = append(deltas, queue.Delta[T]{Type: queue.Put, Reason: queue.Reason(reason), Object: obj})
	}
	if s.first.withheld.Load() && s.begins(objs, len(objs) > 0, resourceVersion) {
		return // as with Replace of a namespace
	}
	s.DeltaFIFO.StepPart(deltas, resourceVersion)
}

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
