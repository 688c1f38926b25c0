package fleet

import (
	"context"
	"errors"
	"fmt"
	"unique"

	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/typed/source"
)

// session is one run of a source of a cluster, and its Sink. Its reports count while it is the
// member's session.
type session[T Object] struct {
	*member[T]

	cluster Cluster
	ctx     context.Context
	cancel  context.CancelFunc
}

// run runs the source until it ends.
func (s *session[T]) run() {
	defer s.cancel()
	err := errExited
	defer func() {
		if p := recover(); p != nil {
			goroutine.Report(klog.NewContext(s.ctx, klog.FromContext(s.ctx).WithValues("cluster", s.name)), p)
			err = &goroutine.PanicError{Of: "the source", Value: p}
		}
		s.over(err)
	}()
	err = s.of.runFor(s.ctx, s.cluster, s)
}

// errExited is the error of a source that has ended its goroutine.
var errExited = errors.New("the source has ended its goroutine, by runtime.Goexit")

// over notes that the source has ended, unless it was stopped.
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
		s.fail(fmt.Errorf("source has ended: %w", err))
	default:
		s.syncIfReady()
		s.report()
	}
}

// Change implements source.Sink.
func (s *session[T]) Change(c index.Change[T], version string) {
	if in, ok := s.takeChange(c, version); ok && s.enter() {
		defer s.order.Unlock()
		s.noteChange(&c, in.Object)
		s.sink.Change(in, "")
		s.pass(version)
	}
}

// Step implements source.Sink.
func (s *session[T]) Step(changes []index.Change[T], version string, done func()) {
	if len(changes) == 0 && version == "" && done == nil {
		s.sink.Step(nil, "", nil) // reports without a lock that versions have moved
		return
	}
	all := make([]index.Change[InCluster[T]], 0, len(changes))
	taken := changes[:0]
	for _, c := range changes {
		if in, ok := s.takeChange(c, version); ok {
			all, taken = append(all, in), append(taken, c)
		}
	}
	if !s.enter() {
		return
	}
	defer s.order.Unlock()
	for i := range taken {
		s.noteChange(&taken[i], all[i].Object)
	}
	if len(changes) > 0 || done != nil {
		s.sink.Step(all, "", done)
	}
	s.pass(version)
	if len(changes) == 0 && version != "" {
		s.bookmark()
	}
}

// takeChange returns a change of an object with its cluster, false if it has none that can
// be used.
func (s *session[T]) takeChange(c index.Change[T], version string) (index.Change[InCluster[T]], bool) {
	if c.Delete && c.Key != nil {
		if c.UID == nil { // of another object of the name, it says nothing
			s.health.repair(rejection{key: *c.Key})
		}
		key := s.keyOf(*c.Key)
		in := source.ChangeFor(c, InCluster[T]{})
		in.Key = &key
		return in, true
	}
	in, ok := s.take(c.Object, version, false)
	if ok {
		s.health.repair(rejection{key: index.KeyOf(c.Object)})
	}
	return source.ChangeFor(c, in), ok
}

// noteChange notes a change, whose object is in the cluster as in. The caller holds order.
func (s *session[T]) noteChange(c *index.Change[T], in InCluster[T]) {
	switch {
	case !c.Delete:
		s.note(in)
	case c.UID != nil: // it may be there still; a name too many does no harm
	case c.Key != nil:
		s.forget(*c.Key)
	default:
		s.forget(index.KeyOf(c.Object))
	}
}

// Progress implements source.Sink.
func (s *session[T]) Progress(received, expected int) {
	more, moreExpected := s.health.progress(received, expected)
	s.sink.Progress(int(s.received.Add(more)), int(s.expected.Add(moreExpected)))
}

// Decoding implements source.Sink: objects share with those of the same cluster that the
// informer has.
func (s *session[T]) Decoding() source.Decoding[T] {
	of := s.sink.Decoding()
	decoding := source.Decoding[T]{Meter: of.Meter, Modifies: of.Modifies, Needs: of.Needs, Versioned: "a fleet compares the versions of its clusters"}
	if of.Held != nil {
		decoding.Held = func(key index.Key) (T, bool) {
			at, ok := s.places.Load(key.Namespace)
			if !ok {
				var none T
				return none, false
			}
			obj, ok := of.Held(index.Key{Namespace: at.(unique.Handle[place]).Value().joined, Name: key.Name})
			return obj.Object, ok
		}
	}
	return decoding
}

// take returns an object with its cluster. It rejects one that is nil.
func (s *session[T]) take(obj T, resourceVersion string, listed bool) (InCluster[T], bool) {
	var none T
	if index.Same(obj, none) {
		s.Report(&source.RejectedError{ResourceVersion: resourceVersion, Listed: listed, Err: source.ErrNilObject})
		return InCluster[T]{}, false
	}
	return InCluster[T]{s.placeOf(obj.GetNamespace()), obj}, true
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
