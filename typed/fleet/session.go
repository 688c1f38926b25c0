package fleet

import (
	"context"
	"errors"
	"fmt"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/typed/source"
)

// session is one run of a source of a cluster, and its Sink. What it reports counts while
// it is the member's.
type session[T Object] struct {
	*member[T]

	cluster Cluster
	ctx     context.Context
	cancel  context.CancelFunc
}

var (
	_ source.Sharer[*metav1.PartialObjectMetadata]  = (*session[*metav1.PartialObjectMetadata])(nil)
	_ source.Stepper[*metav1.PartialObjectMetadata] = (*session[*metav1.PartialObjectMetadata])(nil)
)

// run runs the source until it ends.
func (s *session[T]) run() {
	defer s.cancel()
	err := errExited
	defer func() {
		if p := recover(); p != nil {
			goroutine.Report(s.ctx, p)
			err = panicError{p}
			klog.FromContext(s.ctx).Error(err, "A source of a fleet has panicked", "cluster", s.name)
		}
		s.over(err)
	}()
	src, e := s.of.openFor(s.cluster)
	if e == nil {
		e = src.Run(s.ctx, s)
	}
	err = e
}

// errExited tells that a source has ended its goroutine.
var errExited = errors.New("the source has ended its goroutine, by runtime.Goexit")

// panicError is what a function of the user's has panicked with.
type panicError struct{ value any }

// Error implements error.
func (e panicError) Error() string { return fmt.Sprintf("the source has panicked: %v", e.value) }

// Unwrap returns what it has panicked with, if that is an error.
func (e panicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}

// over notes that the source has ended, unless it was told to.
func (s *session[T]) over(err error) {
	s.order.Lock()
	mine := s.session == s && s.ctx.Err() == nil
	if mine {
		s.health.end()
	}
	s.order.Unlock()
	switch {
	case !mine:
		return
	case err != nil:
		s.fail(fmt.Errorf("its source has ended: %w", err))
	default:
		s.syncIfReady()
		s.tell()
	}
}

// Put implements source.Sink.
func (s *session[T]) Put(obj T, resourceVersion string) {
	if in, ok := s.take(obj, resourceVersion, false); ok && s.enter() {
		defer s.order.Unlock()
		s.note(in)
		s.sink.Put(in, "")
		s.pass(resourceVersion)
	}
}

// Delete implements source.Sink.
func (s *session[T]) Delete(obj T, resourceVersion string) {
	if in, ok := s.take(obj, resourceVersion, false); ok && s.enter() {
		defer s.order.Unlock()
		s.forget(index.KeyOf(obj))
		s.sink.Delete(in, "")
		s.pass(resourceVersion)
	}
}

// Remove implements source.Sink.
func (s *session[T]) Remove(key index.Key, reason index.Reason, resourceVersion string) {
	s.health.repair(key)
	if s.enter() {
		defer s.order.Unlock()
		s.sink.Remove(s.keyOf(key), reason, "")
		s.forget(key)
		s.pass(resourceVersion)
	}
}

// RemoveNamespace implements source.Sink.
func (s *session[T]) RemoveNamespace(namespace, resourceVersion string) {
	if s.enter() {
		defer s.order.Unlock()
		s.health.takeRejected(&namespace)
		s.sink.RemoveNamespace(s.placeOf(namespace).Value().joined, "")
		s.names.removeNamespace(namespace)
		s.objects.Store(int64(s.names.n))
		s.places.Delete(namespace)
		s.pass(resourceVersion)
	}
}

// Step implements source.Stepper.
func (s *session[T]) Step(changes []source.Change[T], resourceVersion string, done func()) {
	all := make([]source.Change[InCluster[T]], 0, len(changes))
	for _, c := range changes {
		if in, ok := s.take(c.Object, resourceVersion, false); ok {
			all = append(all, source.Change[InCluster[T]]{Object: in, Deleted: c.Deleted})
		}
	}
	if !s.enter() {
		return
	}
	defer s.order.Unlock()
	for _, c := range all {
		if c.Deleted {
			s.forget(index.KeyOf(c.Object.Object))
		} else {
			s.note(c.Object)
		}
	}
	source.Step(s.sink, all, "", done)
	s.pass(resourceVersion)
}

// Bookmark implements source.Sink.
func (s *session[T]) Bookmark(resourceVersion string) {
	if s.enter() {
		defer s.order.Unlock()
		s.pass(resourceVersion)
		s.bookmark()
	}
}

// Progress implements source.Sink.
func (s *session[T]) Progress(received, expected int) {
	more, moreExpected := s.health.progress(received, expected)
	s.sink.Progress(int(s.received.Add(more)), int(s.expected.Add(moreExpected)))
}

// Share implements source.Sharer: objects share with those of the same cluster that the
// informer has.
func (s *session[T]) Share() func(index.Key) (T, bool) {
	held := source.ShareOf(s.sink)
	if held == nil {
		return nil
	}
	return func(key index.Key) (T, bool) {
		at, ok := s.places.Load(key.Namespace)
		if !ok {
			var none T
			return none, false
		}
		obj, ok := held(index.Key{Namespace: at.(unique.Handle[place]).Value().joined, Name: key.Name})
		return obj.Object, ok
	}
}

// Meter implements source.Metered.
func (s *session[T]) Meter() *source.Meter { return source.MeterOf(s.sink) }

// take returns an object with its cluster. It rejects one that is nil.
func (s *session[T]) take(obj T, resourceVersion string, listed bool) (InCluster[T], bool) {
	var none T
	if obj == none {
		s.Report(&source.RejectedError{ResourceVersion: resourceVersion, Listed: listed, Err: source.ErrNilObject})
		return InCluster[T]{}, false
	}
	key := index.KeyOf(obj)
	s.health.repair(key)
	return InCluster[T]{s.placeOf(key.Namespace), obj}, true
}

// enter begins a report of a change, which waits until the informer is synced, so that
// nothing but lists has to be kept before. It reports false if the session is over.
// Otherwise the caller unlocks order.
func (s *session[T]) enter() bool {
	s.order.Lock()
	if s.session != s || !s.awaitSync() {
		s.order.Unlock()
		return false
	}
	return true
}

func (s *session[T]) awaitSync() bool {
	if s.isSynced() {
		return true
	}
	select {
	case <-s.synced:
		return true
	case <-s.ctx.Done():
		return false
	}
}
