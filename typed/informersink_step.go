package typed

import (
	"cmp"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/source"
)

// replacePart queues a list of a part.
func (s *informerSink[T]) replacePart(l source.List, version string) {
	objs, _, _ := source.Kept[T](l.Items)
	deltas := make([]queue.Delta[T], 0, len(l.Gone)+len(objs))
	reason := cmp.Or(l.Reason, index.Relisted)
	for i := range l.Gone {
		s.repair(l.Gone[i], bySink)
		deltas = append(deltas, queue.Delta[T]{Type: queue.Delete, Reason: reason, Key: &l.Gone[i]})
	}
	for _, obj := range objs {
		if s.health.rejections.some() {
			s.repair(index.KeyOf(obj), bySink)
		}
		deltas = append(deltas, queue.Delta[T]{Type: queue.Put, Reason: reason, Object: obj})
	}
	if s.first.withheld.Load() && s.begins(objs, len(objs) > 0, version) {
		return // as with a list of a namespace
	}
	s.deltas.Add(queue.Delta[T]{Type: queue.Step, List: &queue.List[T]{Changes: deltas, Part: true}, ResourceVersion: version})
}

// Step implements Sink.
func (s *informerSink[T]) Step(changes []index.Change[T], version string, done func()) {
	if len(changes) == 0 && version == "" && done == nil {
		s.moved()
		return
	}
	deltas := make([]queue.Delta[T], 0, len(changes))
	var first []T // what there is after them, if that is the first list
	onPurpose := false
	for _, c := range changes {
		c, ok := s.admitChange(c, version)
		if !ok {
			continue
		}
		deltas = append(deltas, deltaOf(&c))
		switch {
		case !s.first.withheld.Load() || c.UID != nil:
		case !c.Delete:
			first = append(first, c.Object)
		default:
			onPurpose = onPurpose || c.Reason != 0 && c.Reason != index.Watched
		}
	}
	if s.first.withheld.Load() && s.begins(first, len(first) > 0 || onPurpose, version) {
		deltas, version = nil, ""
	}
	switch {
	case len(deltas) > 0 || done != nil:
		s.deltas.Add(queue.Delta[T]{Type: queue.Step, List: &queue.List[T]{Changes: deltas, Done: done}, ResourceVersion: version})
	case version != "":
		s.deltas.Add(queue.Delta[T]{Type: queue.Bookmark, ResourceVersion: version})
	}
}
