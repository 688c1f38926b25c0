package adapters

import (
	"sync"

	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// reflectorQueue is what a Reflector writes to: it converts and transforms each
// object, once, and passes it on to a sink. To the Controller it is a queue from
// which nothing can be taken, as the informer behind the sink does what a
// Controller would. Its writing methods are called by the Reflector's goroutine.
type reflectorQueue[T index.Object] struct {
	*reflectorSource[T]

	sink  source.Sink[T]
	lists *listerWatcher

	closing sync.Once
	closed  chan struct{}
}

func _[T index.Object]() {
	var _ cache.Queue = (*reflectorQueue[T])(nil)
	var _ cache.TransformingStore = (*reflectorQueue[T])(nil)
	var _ cache.ReflectorBookmarkStore = (*reflectorQueue[T])(nil)
}

func newReflectorQueue[T index.Object](s *reflectorSource[T], sink source.Sink[T], lists *listerWatcher) *reflectorQueue[T] {
	return &reflectorQueue[T]{reflectorSource: s, sink: sink, lists: lists, closed: make(chan struct{})}
}

// Add implements cache.ReflectorStore. The Reflector reports the error.
func (q *reflectorQueue[T]) Add(untyped any) error {
	obj, err := q.admit(untyped)
	if err == nil {
		q.watchOver(obj)
		q.metrics.add(queueChange)
		q.sink.Change(index.Change[T]{Object: obj}, storeVersionOf(obj))
	}
	return err
}

// Update implements cache.ReflectorStore. The Reflector reports the error.
func (q *reflectorQueue[T]) Update(untyped any) error { return q.Add(untyped) }

// Delete implements cache.ReflectorStore. The Reflector reports the error.
func (q *reflectorQueue[T]) Delete(untyped any) error {
	obj, err := q.admit(untyped)
	if err == nil {
		q.metrics.add(queueChange)
		q.sink.Change(index.Change[T]{Delete: true, Object: obj}, storeVersionOf(obj))
	}
	return err
}

// Replace implements cache.ReflectorStore. If the transform returns an error, the list has
// failed and is made again. An object that cannot be stored is reported and left out.
func (q *reflectorQueue[T]) Replace(list []any, version string) error {
	transformed := q.lists.streamed() // then the Reflector has done so as they came
	objs := make([]T, 0, len(list))
	var rejected []error
	for _, untyped := range list {
		if !transformed && q.transform != nil {
			var err error
			if untyped, err = q.transform(untyped); err != nil {
				return err
			}
		}
		obj, err := q.typed(untyped)
		if err != nil {
			rejected = append(rejected, &source.RejectedError{ResourceVersion: version, Err: err})
			continue
		}
		q.watchOver(obj)
		objs = append(objs, obj)
	}
	q.metrics.add(queueList)
	q.sink.Replace(source.List{Items: source.StageAll(q.sink, objs)}, version)
	for _, err := range rejected { // afterwards: a list of nothing else syncs a client-go informer
		q.sink.Report(err)
	}
	return nil
}

// Bookmark implements cache.ReflectorBookmarkStore.
func (q *reflectorQueue[T]) Bookmark(version string) error {
	q.metrics.add(queueBookmark)
	q.sink.Step(nil, storeVersion(version), nil)
	return nil
}

// Resync implements cache.ReflectorStore. It is called for the handlers for
// which it was found to be time.
func (q *reflectorQueue[T]) Resync() error {
	q.resync()
	return nil
}

// Transformer implements cache.TransformingStore: it is what the objects of a
// streamed list pass while they are collected.
func (q *reflectorQueue[T]) Transformer() cache.TransformFunc { return q.transform }

// admit transforms and converts an object.
func (q *reflectorQueue[T]) admit(untyped any) (admitted T, err error) {
	if q.transform != nil {
		if untyped, err = q.transform(untyped); err != nil {
			return admitted, err
		}
	}
	if err := q.checkWhole(untyped); err != nil {
		return admitted, err
	}
	return q.typed(untyped)
}

// Pop implements cache.Queue: it waits until the queue is closed.
func (q *reflectorQueue[T]) Pop(cache.PopProcessFunc) (any, error) {
	<-q.closed
	return nil, cache.ErrFIFOClosed
}

// Close implements cache.Queue.
func (q *reflectorQueue[T]) Close() { q.closing.Do(func() { close(q.closed) }) }

// HasSynced implements cache.Queue. It is never called: the informer knows.
func (q *reflectorQueue[T]) HasSynced() bool { return false }

// HasSyncedChecker implements cache.Queue. It is never called: the informer knows.
func (q *reflectorQueue[T]) HasSyncedChecker() cache.DoneChecker { return doneChecker{name: q.name} }
