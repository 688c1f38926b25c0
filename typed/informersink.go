package typed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/source"
)

// informerSink is the Sink of an informer: it checks and transforms each object, once,
// on the goroutine of the source, and queues it.
type informerSink[T index.Object] struct {
	*queue.DeltaFIFO[T]

	ctx       context.Context // of Run, for logging
	name      string
	transform func(T) (T, error) // may be nil
	nameless  bool               // objects without a name are stored
	health    *health
	progress  *progress
	held      func(index.Key) (T, bool) // what the store has
	first     firstList
	reported  func(error)       // tells followers
	onError   func(error) error // may be nil
	end       func(cause error) // ends Run
	meter     *source.Meter
	early     func(received int) // looks at a list that comes
}

// Put implements Sink.
func (s *informerSink[T]) Put(obj T, resourceVersion string) {
	if obj, ok := s.admit(obj, resourceVersion, false); ok && !s.isFirst(obj, resourceVersion) {
		s.DeltaFIFO.Put(obj, resourceVersion)
	}
}

// Delete implements Sink. The object is gone whether its last state can be used or
// not.
func (s *informerSink[T]) Delete(obj T, resourceVersion string) {
	var none T
	if obj == none {
		s.reject(index.Key{}, resourceVersion, false, source.ErrNilObject)
		return
	}
	key := index.KeyOf(obj) // first: a transform may modify the object, and then fail
	if obj, ok := s.admit(obj, resourceVersion, false); !ok {
		s.Remove(key, index.Watched, resourceVersion)
	} else if !s.swallows(resourceVersion) {
		s.DeltaFIFO.Delete(obj, resourceVersion)
	}
}

// Remove implements Sink.
func (s *informerSink[T]) Remove(key index.Key, reason index.Reason, resourceVersion string) {
	s.repair(key)
	switch deleted := reason == index.Watched; {
	case s.first.withheld.Load() && s.begins(nil, !deleted, resourceVersion):
	case deleted:
		s.DeltaFIFO.DeleteName(queue.ObjectName(key), resourceVersion)
	default:
		s.DeltaFIFO.Remove(queue.ObjectName(key), queue.Reason(reason), resourceVersion)
	}
}

// Bookmark implements Sink.
func (s *informerSink[T]) Bookmark(resourceVersion string) {
	if !s.swallows(resourceVersion) {
		s.DeltaFIFO.Bookmark(resourceVersion)
	}
}

// Replace implements Sink.
func (s *informerSink[T]) Replace(namespace string, objs []T, resourceVersion string) {
	s.replace(namespace, s.admitAll(objs, resourceVersion), false, resourceVersion)
}

// Stage implements Sink.
func (s *informerSink[T]) Stage(obj T, resourceVersion string) source.Staged {
	obj, ok := s.admit(obj, resourceVersion, true)
	if !ok {
		return source.Reject()
	}
	return source.Keep(obj)
}

// ReplaceStaged implements Sink.
func (s *informerSink[T]) ReplaceStaged(namespace string, list []source.Staged, resourceVersion string) {
	objs, filtered := source.Kept[T](list)
	s.replace(namespace, objs, filtered, resourceVersion)
}

// RemoveNamespace implements Sink.
func (s *informerSink[T]) RemoveNamespace(namespace, resourceVersion string) {
	s.health.rejections.repairAll(&namespace, bySink)
	if !s.swallows(resourceVersion) {
		s.Add(queue.Delta[T]{Type: queue.Replace, Reason: queue.Reason(index.OutOfScope), List: &queue.List[T]{Namespace: namespace}, ResourceVersion: resourceVersion})
	}
}

// replace queues a list, whose objects were admitted; unless it is the first list of
// everything, and all that was in it was rejected. Filtered tells that there were
// some that are left out on purpose.
func (s *informerSink[T]) replace(namespace string, objs []T, filtered bool, resourceVersion string) {
	list := queue.List[T]{Namespace: namespace, Objects: objs}
	if namespace != metav1.NamespaceAll {
		list.Kept = s.health.rejections.repairAll(&namespace, bySink)
		if !s.first.withheld.Load() || !s.begins(objs, len(objs) > 0, resourceVersion) {
			s.DeltaFIFO.Replace(list, resourceVersion)
		}
		return
	}
	s.progress.note(len(objs), len(objs))
	s.health.report(s.ctx, s.name, nil) // before anybody can see that it has synced
	s.reported(nil)
	list.Kept = s.health.rejections.repairAll(nil, bySink)
	if len(objs) == 0 && !filtered && len(list.Kept) > 0 && s.first.withhold(resourceVersion) {
		err := fmt.Errorf("all %d objects of the first list were rejected, such as: %w", len(list.Kept), s.health.rejections.of(index.Key(list.Kept[0])))
		s.health.withhold(err)
		utilruntime.HandleErrorWithContext(s.ctx, err, "The informer cannot sync", "informer", s.name)
		return
	}
	s.first.take()
	s.health.withhold(nil)
	s.DeltaFIFO.Replace(list, resourceVersion)
}

// isFirst reports whether obj was taken up as the first list.
func (s *informerSink[T]) isFirst(obj T, resourceVersion string) bool {
	return s.first.withheld.Load() && s.begins([]T{obj}, true, resourceVersion)
}

// swallows reports whether a report that brings no object is not to be passed on.
func (s *informerSink[T]) swallows(resourceVersion string) bool {
	return s.first.withheld.Load() && s.begins(nil, false, resourceVersion)
}

// begins reports whether a report was taken up, or swallowed, because the first
// list was rejected as a whole. If there is something that can be used, or nothing
// that was rejected is left, objs are the first list.
func (s *informerSink[T]) begins(objs []T, usable bool, resourceVersion string) bool {
	s.first.mu.Lock()
	defer s.first.mu.Unlock()
	if !s.first.withheld.Load() {
		return false
	}
	if resourceVersion != "" {
		s.first.version = resourceVersion
	}
	if usable || !s.health.rejections.some() {
		s.first.withheld.Store(false)
		s.first.done = true
		s.health.withhold(nil)
		s.DeltaFIFO.Replace(queue.List[T]{Objects: objs}, s.first.version)
	}
	return true
}

// admitAll returns those of the objects of a list that can be stored, as they are
// to be stored.
func (s *informerSink[T]) admitAll(objs []T, resourceVersion string) []T {
	admitted := objs[:0]
	for _, obj := range objs {
		if obj, ok := s.admit(obj, resourceVersion, true); ok {
			admitted = append(admitted, obj)
		}
	}
	clear(objs[len(admitted):])
	return admitted
}

// Progress implements Sink.
func (s *informerSink[T]) Progress(received, expected int) {
	s.progress.note(received, expected)
	s.early(received)
}

// Meter implements source.Metered.
func (s *informerSink[T]) Meter() *source.Meter { return s.meter }

// Report implements Sink.
func (s *informerSink[T]) Report(err error) {
	if rejected := (*source.RejectedError)(nil); errors.As(err, &rejected) {
		if rejected.Err == nil {
			s.repair(rejected.Key)
			return
		}
		named := *rejected
		named.Informer = s.name
		s.health.reject(s.ctx, &named)
		return
	}
	if waiting := (*source.WaitingError)(nil); errors.As(err, &waiting) {
		s.health.withhold(err)
		s.reported(err)
		return
	}
	s.health.report(s.ctx, s.name, err)
	s.reported(err)
	if err == nil {
		s.health.watch()
		return
	}
	if s.onError == nil {
		return
	}
	contain(func() {
		if end := s.onError(err); end != nil {
			s.end(end)
		}
	})
}

var errNoName = errors.New("it has no name")

// admit returns obj as it is to be stored, false if it cannot be, which it
// reports. Listed tells that it is one of a list.
func (s *informerSink[T]) admit(obj T, resourceVersion string, listed bool) (T, bool) {
	var none T
	if obj == none {
		s.reject(index.Key{}, resourceVersion, listed, source.ErrNilObject)
		return none, false
	}
	if s.transform != nil {
		key := index.KeyOf(obj)
		transformed, err := s.transformed(obj)
		if err == nil && transformed == none {
			err = source.ErrNilObject
		} else if err == nil && index.KeyOf(transformed) != key {
			err = fmt.Errorf("the transform function has given it another key, %q", index.KeyOf(transformed))
		}
		if err != nil {
			s.reject(key, resourceVersion, listed, err)
			return none, false
		}
		obj = transformed
	}
	if !s.nameless && obj.GetName() == "" { // all objects without one would be one to the store
		s.reject(index.KeyOf(obj), resourceVersion, listed, errNoName)
		return none, false
	}
	if s.health.rejections.some() {
		s.repair(index.KeyOf(obj))
	}
	return obj, true
}

// transformed calls the transform function. If that panics, the object is rejected.
func (s *informerSink[T]) transformed(obj T) (_ T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &goroutine.PanicError{Of: "the transform function", Value: p}
			goroutine.Crash(s.ctx, p)
		}
	}()
	return s.transform(obj)
}

// repair notes that an object is received in a state that can be used, or gone.
func (s *informerSink[T]) repair(key index.Key) {
	if s.health.rejections.some() {
		s.health.rejections.repair(key, bySink)
	}
}

func (s *informerSink[T]) reject(key index.Key, resourceVersion string, listed bool, err error) {
	s.Report(&source.RejectedError{Key: key, ResourceVersion: resourceVersion, Listed: listed, Err: err})
}

// firstList is what becomes of the first list. One that was rejected as a whole is
// withheld, until there is something that can be used.
type firstList struct {
	withheld atomic.Bool

	mu      sync.Mutex
	done    bool   // guarded by mu; the informer has a first list
	version string // guarded by mu; of the one that is withheld
}

// withhold reports whether a list is to be withheld, which it is unless there was
// another one.
func (f *firstList) withhold(version string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done {
		return false
	}
	f.version = version
	f.withheld.Store(true)
	return true
}

// take notes that the informer has a first list.
func (f *firstList) take() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = true
	f.withheld.Store(false)
}
