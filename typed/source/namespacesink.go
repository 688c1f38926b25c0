package source

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
)

// namespaceSink is the Sink of one namespace of several. Its fields are guarded by mu
// of the group.
type namespaceSink[T index.Object] struct {
	*namespaceGroup[T]
	namespace string          // never changed
	ctx       context.Context // ends when the namespace is removed
	cancel    context.CancelFunc
	stay      *stay // never changed

	removed            bool
	finished           bool     // the source has nothing more to say
	listed             bool     // first holds the objects, or the sink has them
	passedOver         bool     // the informer does not wait for the first list
	first              List     // until the informer is synced
	unconfirmed        []func() // see Sink.Step; until the informer is synced
	version            string   // that its watch has reached, "" if not known
	err                error    // a *NamespaceError while it fails
	received, expected int      // see Sink.Progress
}

// Change implements Sink.
func (s *namespaceSink[T]) Change(c index.Change[T], version string) {
	if s.covers(&c, version) {
		s.change(version, func(version string) { s.sink.Change(c, version) })
	}
}

// Step implements Sink.
func (s *namespaceSink[T]) Step(changes []index.Change[T], version string, done func()) {
	if len(changes) == 0 && version == "" && done == nil {
		s.sink.Step(nil, "", nil) // versions have moved: passed on without waiting for the lock
		return
	}
	changes = slices.DeleteFunc(changes, func(c index.Change[T]) bool { return !s.covers(&c, version) })
	if len(changes) == 0 && version == "" && done != nil {
		s.confirm(done)
		return
	}
	s.change(version, func(version string) {
		if len(changes) > 0 || version != "" || done != nil {
			s.sink.Step(changes, version, done)
		}
	})
}

// confirm has done called when reads reflect all that was reported before. It does not
// wait, since the lists of other namespaces may take long.
func (s *namespaceSink[T]) confirm(done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.removed || s.ended:
	case s.synced:
		s.sink.Step(nil, "", done)
	default:
		s.unconfirmed = append(s.unconfirmed, done)
	}
}

// covers reports whether a change is about the namespace.
func (s *namespaceSink[T]) covers(c *index.Change[T], version string) bool {
	if c.Delete && c.Key != nil {
		return s.isOwn(c.Key.Namespace)
	}
	return s.contains(c.Object, version, false)
}

// change calls report with the version to pass on, while mu is held. It waits until the
// informer is synced, so that only lists have to be kept until then, and does nothing if the
// namespace is removed.
func (s *namespaceSink[T]) change(resourceVersion string, report func(version string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.synced && !s.removed && !s.ended {
		s.changed.Wait()
	}
	if !s.removed && !s.ended {
		at := s.reach(resourceVersion)
		report(at)
		s.reportVersion(resourceVersion, at)
	}
}

// reportVersion notes a version that was reported, at another one for all namespaces. The
// caller holds mu.
func (s *namespaceSink[T]) reportVersion(version, at string) {
	if version == "" {
		return
	}
	s.reported.set(s.namespace, version)
	if at != version {
		s.sink.Step(nil, "", nil)
	}
}

// reach notes the version of a report, and returns the one to pass on. The caller
// holds mu.
func (s *namespaceSink[T]) reach(version string) string {
	if version == "" {
		return ""
	}
	before := s.version
	s.version = version
	if s.exact && before != s.namespaceGroup.version {
		return "" // others hold it back
	}
	return s.advance()
}

// Stage implements Sink. It takes no lock while the namespace stays: namespaces are listed at the
// same time. An object of one that is removed is not reported as rejected: no more reports would
// take that back.
func (s *namespaceSink[T]) Stage(obj T, resourceVersion string) Staged {
	staged := Reject(keyOrNone(obj))
	if s.hasLeft() {
		return staged // the list is not used
	}
	if s.contains(obj, resourceVersion, true) {
		staged = s.sink.Stage(obj, resourceVersion)
	}
	if key, rejected := Rejected(staged); rejected && s.hasLeft() {
		s.sink.Report(&RejectedError{Key: key})
	}
	return staged
}

// hasLeft reports whether the namespace is removed.
func (s *namespaceSink[T]) hasLeft() bool {
	if s.ctx.Err() == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.removed
}

// Replace implements Sink. A list of everything is to the source of a namespace all that
// there is in it.
func (s *namespaceSink[T]) Replace(l List, version string) {
	if l.Part {
		l.Gone = slices.DeleteFunc(l.Gone, func(key index.Key) bool { return !s.isOwn(key.Namespace) })
		s.change(version, func(version string) { s.sink.Replace(l, version) })
		return
	}
	if l.Namespace != metav1.NamespaceAll && !s.isOwn(l.Namespace) {
		return
	}
	l.Namespace = s.namespace
	if l.Leaves() {
		s.change(version, func(version string) { s.sink.Replace(l, version) })
		return
	}
	s.Report(nil) // before callers can see that it is listed
	defer s.report()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed || s.ended {
		return
	}
	done := l.Done
	l.Done = func() {
		s.stays.list(s.stay)
		if done != nil {
			done()
		}
	}
	s.listed, s.version = true, version
	if !s.synced {
		s.first = l
		s.syncIfListed()
		return
	}
	at := s.advance()
	s.sink.Replace(l, at)
	s.reportVersion(version, at)
}

// isAwaited reports whether the informer waits for the first list. The caller holds mu.
func (s *namespaceSink[T]) isAwaited() bool { return !s.listed && !s.passedOver }

// Decoding implements Sink.
func (s *namespaceSink[T]) Decoding() Decoding[T] { return s.sink.Decoding() }

// Progress implements Sink.
func (s *namespaceSink[T]) Progress(received, expected int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed || s.ended {
		return
	}
	s.received, s.expected = received, expected
	s.sink.Progress(s.progress())
}

// Report implements Sink.
func (s *namespaceSink[T]) Report(err error) {
	if rejected, ok := AsRejected(err); ok {
		s.reportRejected(rejected)
		return
	}
	if errors.Is(err, ErrNotStreamed) { // the namespace does not fail
		s.sink.Report(&NamespaceError{Namespace: s.namespace, Err: err})
		return
	}
	defer s.report()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.removed && !s.ended {
		s.note(err)
	}
}

// reportRejected reports a rejected object, unless the namespace is removed: no more reports would
// take that back. That of a watch waits until the informer is synced, as changes do: the first list
// has earlier states.
func (s *namespaceSink[T]) reportRejected(rejected *RejectedError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for watched := s.listed && !rejected.Listed && !rejected.Stands; watched && !s.synced && !s.removed && !s.ended; {
		s.changed.Wait()
	}
	if !s.removed && !s.ended {
		s.sink.Report(rejected)
	}
}

// note notes a failure of the namespace, or nil if it works. It passes on that a namespace
// works again when all namespaces do. The caller holds mu, and makes the queued reports
// afterwards.
func (s *namespaceSink[T]) note(err error) {
	if err == nil {
		s.err = nil
		s.stays.fail(s.stay, nil)
		if s.trouble() == nil {
			s.reports.Add(nil)
		}
		return
	}
	passedOver := !s.listed && errors.Is(err, ErrPassedOver)
	if passedOver && s.err != nil && s.err.Error() == (&NamespaceError{Namespace: s.namespace, Err: err}).Error() {
		return // once is enough
	}
	s.err = &NamespaceError{Namespace: s.namespace, Err: err}
	s.stays.fail(s.stay, err)
	if passedOver && !s.passedOver {
		s.passedOver = true
		if s.passOver() {
			return
		}
	}
	s.reports.Add(s.trouble())
}

// finish notes that the namespace's source has nothing more to say, so that it
// does not hold back the version.
func (s *namespaceSink[T]) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished = true
	if s.synced && !s.removed && !s.ended {
		if version := s.advance(); version != "" {
			s.sink.Step(nil, version, nil)
		}
	}
}

// contains reports whether an object is in the namespace, and rejects an object that is not. It
// accepts a nil object, which the sink rejects.
func (s *namespaceSink[T]) contains(obj T, resourceVersion string, listed bool) bool {
	var none T
	if index.Same(obj, none) || obj.GetNamespace() == s.namespace {
		return true
	}
	s.reject(index.KeyOf(obj), resourceVersion, listed)
	return false
}

func (s *namespaceSink[T]) reject(key index.Key, resourceVersion string, listed bool) {
	s.sink.Report(&RejectedError{
		Key: key, ResourceVersion: resourceVersion, Listed: listed,
		Err: fmt.Errorf("object came from the source of the namespace %s", s.namespace),
	})
}

// isOwn reports whether a report on a namespace is about its own, and
// rejects it otherwise.
func (s *namespaceSink[T]) isOwn(namespace string) bool {
	if namespace != s.namespace {
		s.reject(index.Key{Namespace: namespace}, "", false)
	}
	return namespace == s.namespace
}
