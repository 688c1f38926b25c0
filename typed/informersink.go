package typed

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/observer"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/source"
)

// informerSink is the Sink of an informer: it checks and transforms each object, once,
// on the goroutine of the source, and queues it.
type informerSink[T index.Object] struct {
	deltas    *queue.DeltaFIFO[T]
	ctx       context.Context // of Run, for logging
	name      string
	transform func(T) (T, error) // may be nil
	nameless  bool               // objects without a name are stored
	health    *health
	progress  *progress
	held      func(index.Key) (T, bool) // what the store has
	first     firstList
	reported  func(error)       // passes the error to followers
	onError   func(error) error // may be nil
	end       func(cause error) // ends Run
	meter     *source.Meter
	needs     func() []string // the fields that handlers, followers and indexes read
	hooks     hooks
	moved     func() // versions of the source have
}

// Change implements Sink.
func (s *informerSink[T]) Change(c index.Change[T], version string) {
	if c.Delete {
		s.delete(c, version)
		return
	}
	obj, _, ok := s.admit(c.Object, version, false)
	if !ok {
		return
	}
	c.Object = obj
	s.repairBy(&c)
	if s.first.withheld.Load() && s.beginsWith(c, version) {
		return
	}
	d := queue.Delta[T]{Type: queue.Put, Reason: c.Reason, Object: obj, ResourceVersion: version}
	if c.UID != nil {
		d.List = &queue.List[T]{UID: c.UID}
	}
	s.deltas.Add(d)
}

// delete is Change if that is a deletion.
func (s *informerSink[T]) delete(c index.Change[T], version string) {
	c, ok := s.admitChange(c, version)
	if ok && !(s.first.withheld.Load() && s.beginsWith(c, version)) {
		d := deltaOf(&c)
		d.ResourceVersion = version
		s.deltas.Add(d)
	}
}

// beginsWith is begins with a change. One that is about what the store has to have says
// nothing about a first list; and an object that is not there by purpose leaves one empty.
func (s *informerSink[T]) beginsWith(c index.Change[T], version string) bool {
	switch {
	case c.UID != nil:
		return s.begins(nil, false, version)
	case !c.Delete:
		return s.begins([]T{c.Object}, true, version)
	default:
		return s.begins(nil, c.Reason != 0 && c.Reason != index.Watched, version)
	}
}

// deltaOf returns a change as it is queued.
func deltaOf[T index.Object](c *index.Change[T]) queue.Delta[T] {
	d := queue.Delta[T]{Type: queue.Put, Reason: c.Reason, Object: c.Object}
	if c.UID != nil {
		d.List = &queue.List[T]{UID: c.UID}
	}
	if c.Delete {
		d.Type, d.Key = queue.Delete, c.Key
	}
	return d
}

// Stage implements Sink.
func (s *informerSink[T]) Stage(obj T, version string) source.Staged {
	obj, key, ok := s.admit(obj, version, true)
	if !ok {
		return source.Reject(key)
	}
	return source.Keep(obj)
}

// Replace implements Sink.
func (s *informerSink[T]) Replace(l source.List, version string) {
	switch {
	case l.Part:
		s.replacePart(l, version)
	case l.Leaves():
		s.health.rejections.leave(l.Namespace)
		if !s.first.withheld.Load() || !s.beginsBy(nil, version, l.Done) {
			s.queueList(queue.List[T]{Namespace: l.Namespace, Done: l.Done}, l.Reason, version)
		}
	default:
		s.replace(l, version)
	}
}

// replace queues a list, unless it is the first list of everything, and all that was in
// it was rejected.
func (s *informerSink[T]) replace(l source.List, version string) {
	objs, rejected, leftOut := source.Kept[T](l.Items)
	kept := keptIn(l.Namespace, objs, rejected)
	s.health.rejections.repairAll(l.Namespace, bySink, kept)
	list := queue.List[T]{Namespace: l.Namespace, Objects: objs, Kept: kept, Done: l.Done}
	if l.Namespace != metav1.NamespaceAll {
		if !s.first.withheld.Load() || !s.beginsBy(objs, version, l.Done) {
			s.queueList(list, l.Reason, version)
		}
		return
	}
	s.progress.note(len(objs), len(objs))
	s.health.report(s.ctx, s.name, nil) // before callers can see that it has synced
	s.reported(nil)
	if len(objs) == 0 && !leftOut && len(rejected) > 0 && s.first.withhold(version, l.Done) {
		err := fmt.Errorf("all %d objects of the first list were rejected, such as: %w", len(rejected), s.health.rejections.lastOne())
		s.health.withhold(err)
		s.reported(err)
		utilruntime.HandleErrorWithContext(s.ctx, err, "The informer cannot sync", "informer", s.name)
		return
	}
	list.Done = s.first.take(l.Done)
	s.health.withhold(nil)
	s.queueList(list, l.Reason, version)
}

// keptIn returns which of the objects of a list that were rejected stay as they are: those
// of the namespace that was listed, unless it has them in another state, too.
func keptIn[T index.Object](namespace string, objs []T, rejected []index.Key) []index.Key {
	if len(rejected) == 0 {
		return nil
	}
	good := make(map[index.Key]bool, len(objs))
	for _, obj := range objs {
		good[index.KeyOf(obj)] = true
	}
	return slices.DeleteFunc(rejected, func(key index.Key) bool { return good[key] || !isWithin(key, namespace) })
}

// queueList queues a list. Its events have the given reason, or the usual one if it is 0.
func (s *informerSink[T]) queueList(list queue.List[T], reason index.Reason, version string) {
	s.deltas.Add(queue.Delta[T]{Type: queue.Replace, Reason: reason, List: &list, ResourceVersion: version})
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
		s.reported(s.health.failure())
		s.queueList(queue.List[T]{Objects: objs, Done: s.first.stored}, 0, s.first.version)
		s.first.stored = nil
	}
	return true
}

// beginsBy does as begins for a list of a namespace. Done is called with those of the first list.
func (s *informerSink[T]) beginsBy(objs []T, version string, done func()) bool {
	s.first.mu.Lock()
	s.first.wait(done)
	s.first.mu.Unlock()
	return s.begins(objs, len(objs) > 0, version)
}

// Progress implements Sink.
func (s *informerSink[T]) Progress(received, expected int) {
	s.progress.note(received, expected)
	s.hooks.each(func(h *observer.Hooks) {
		if h.Listing != nil {
			h.Listing(received)
		}
	})
}

// Decoding implements Sink. A transform may modify what it is given, so objects share
// nothing if there is one.
func (s *informerSink[T]) Decoding() source.Decoding[T] {
	d := source.Decoding[T]{Held: s.held, Meter: s.meter, Needs: s.needs()}
	if s.transform != nil {
		d.Held, d.Modifies = nil, true
	}
	return d
}

// Report implements Sink.
func (s *informerSink[T]) Report(err error) {
	if rejected, ok := source.AsRejected(err); ok {
		by := bySink
		if rejected.Stands {
			by = standing
		}
		if rejected.Err == nil {
			s.repair(rejected.Key, by)
			return
		}
		named := *rejected
		named.Informer = s.name
		s.health.reject(s.ctx, &named, by)
		return
	}
	if waiting := (*source.WaitingError)(nil); errors.As(err, &waiting) {
		s.health.withhold(err)
		s.reported(err)
		return
	}
	if errors.Is(err, source.ErrNotStreamed) {
		s.health.giveUp(s.ctx, s.name, err)
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
	goroutine.CallSafely(func() {
		if end := s.onError(err); end != nil {
			s.end(end)
		}
	})
}

var errNoName = errors.New("object has no name")

// admitChange returns a change as the store is to make it, false if it cannot be made. A
// deleted object is gone even if its last state cannot be used.
func (s *informerSink[T]) admitChange(c index.Change[T], version string) (index.Change[T], bool) {
	var none T
	var ok bool
	if !c.Delete {
		if c.Object, _, ok = s.admit(c.Object, version, false); ok {
			s.repairBy(&c)
		}
		return c, ok
	}
	if c.Key == nil {
		if index.Same(c.Object, none) {
			s.reject(index.Key{}, version, false, source.ErrNilObject)
			return c, false
		}
		key := index.KeyOf(c.Object) // first: a transform may modify the object, and then fail
		if c.Object, _, ok = s.admit(c.Object, version, false); ok {
			s.repairBy(&c)
			return c, true
		}
		named := key // which escapes, as key would with every deletion
		c.Key = &named
	}
	c.Object = none
	if c.UID == nil { // of another object of the name, it says nothing
		s.repair(*c.Key, bySink)
	}
	return c, true
}

// admit returns obj as it is to be stored. If obj cannot be stored, admit reports that, and
// returns the key and false. Listed is set for an object of a list.
func (s *informerSink[T]) admit(obj T, resourceVersion string, listed bool) (_ T, key index.Key, ok bool) {
	var none T
	if index.Same(obj, none) {
		s.reject(key, resourceVersion, listed, source.ErrNilObject)
		return none, key, false
	}
	if s.transform != nil {
		key = index.KeyOf(obj)
		transformed, err := s.transformed(obj)
		if err == nil && index.Same(transformed, none) {
			err = source.ErrNilObject
		} else if err == nil && index.KeyOf(transformed) != key {
			err = fmt.Errorf("the transform function has given it another key, %q", index.KeyOf(transformed))
		}
		if err != nil {
			s.reject(key, resourceVersion, listed, err)
			return none, key, false
		}
		obj = transformed
	}
	if !s.nameless && obj.GetName() == "" { // all objects without one would be one to the store
		key = index.KeyOf(obj)
		s.reject(key, resourceVersion, listed, errNoName)
		return none, key, false
	}
	return obj, key, true
}

// repairBy notes that the object of a change can be used. Of one that only counts for the object of
// a UID, it is not known whether the store will have it.
func (s *informerSink[T]) repairBy(c *index.Change[T]) {
	if c.UID == nil && s.health.rejections.some() {
		s.health.rejections.repair(index.KeyOf(c.Object), bySink)
	}
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
func (s *informerSink[T]) repair(key index.Key, by rejecter) {
	if s.health.rejections.some() {
		s.health.rejections.repair(key, by)
	}
}

func (s *informerSink[T]) reject(key index.Key, resourceVersion string, listed bool, err error) {
	s.Report(&source.RejectedError{Key: key, ResourceVersion: resourceVersion, Listed: listed, Err: err})
}
