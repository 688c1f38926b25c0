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

	removed            bool
	finished           bool     // the source has nothing more to say
	listed             bool     // first holds the objects, or the sink has them
	first              []Staged // until the informer is synced
	version            string   // that its watch has reached, "" if not known
	err                error    // a *NamespaceError while it fails
	received, expected int      // see Sink.Progress
}

// Put implements Sink.
func (s *namespaceSink[T]) Put(obj T, resourceVersion string) {
	if s.contains(obj, resourceVersion, false) {
		s.change(resourceVersion, func(version string) { s.sink.Put(obj, version) })
	}
}

// Delete implements Sink.
func (s *namespaceSink[T]) Delete(obj T, resourceVersion string) {
	if s.contains(obj, resourceVersion, false) {
		s.change(resourceVersion, func(version string) { s.sink.Delete(obj, version) })
	}
}

// Remove implements Sink.
func (s *namespaceSink[T]) Remove(key index.Key, reason index.Reason, resourceVersion string) {
	if s.isOwn(key.Namespace) {
		s.change(resourceVersion, func(version string) { s.sink.Remove(key, reason, version) })
	}
}

// RemoveNamespace implements Sink.
func (s *namespaceSink[T]) RemoveNamespace(namespace, resourceVersion string) {
	if s.isOwn(namespace) {
		s.change(resourceVersion, func(version string) { s.sink.RemoveNamespace(namespace, version) })
	}
}

// ReplacePart implements Sink. Keys of other namespaces are none of the part's.
func (s *namespaceSink[T]) ReplacePart(list []Staged, gone []index.Key, reason index.Reason, resourceVersion string) {
	gone = slices.DeleteFunc(gone, func(key index.Key) bool { return !s.isOwn(key.Namespace) })
	s.change(resourceVersion, func(version string) { s.sink.ReplacePart(list, gone, reason, version) })
}

// Bookmark implements Sink.
func (s *namespaceSink[T]) Bookmark(resourceVersion string) {
	s.change(resourceVersion, func(version string) {
		if version != "" {
			s.sink.Bookmark(version)
		}
	})
}

// change has a change reported, with the version to pass on, while mu is held. It
// waits until the informer is synced, so that nothing but lists has to be kept
// before, and does nothing if the namespace is removed.
func (s *namespaceSink[T]) change(resourceVersion string, report func(version string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.synced && !s.removed && !s.ended {
		s.changed.Wait()
	}
	if !s.removed && !s.ended {
		report(s.reach(resourceVersion))
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

// Stage implements Sink. It takes no lock: namespaces are listed at the same
// time.
func (s *namespaceSink[T]) Stage(obj T, resourceVersion string) Staged {
	if !s.contains(obj, resourceVersion, true) {
		return Reject()
	}
	return s.sink.Stage(obj, resourceVersion)
}

// Replace implements Sink.
func (s *namespaceSink[T]) Replace(namespace string, objs []T, resourceVersion string) {
	s.ReplaceStaged(namespace, stageAll(s, objs), resourceVersion)
}

// ReplaceStaged implements Sink. To the source of a namespace, that is all there is.
func (s *namespaceSink[T]) ReplaceStaged(namespace string, list []Staged, resourceVersion string) {
	if namespace != metav1.NamespaceAll && !s.isOwn(namespace) {
		return
	}
	s.Report(nil) // before anybody can see that it is listed
	defer s.tell()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed || s.ended {
		return
	}
	s.listed, s.version = true, resourceVersion
	if !s.synced {
		s.first = list
		s.syncIfListed()
		return
	}
	s.sink.ReplaceStaged(s.namespace, list, s.advance())
}

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
	var rejected *RejectedError
	if errors.As(err, &rejected) {
		s.sink.Report(err)
		return
	}
	defer s.tell()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.removed && !s.ended {
		s.note(err)
	}
}

// note notes how the namespace fares. That it works again is passed on when all
// do. The caller holds mu, and calls tell.
func (s *namespaceSink[T]) note(err error) {
	if err == nil {
		s.err = nil
		if s.trouble() == nil {
			s.untold = append(s.untold, nil)
		}
		return
	}
	s.err = &NamespaceError{Namespace: s.namespace, Err: err}
	s.untold = append(s.untold, s.trouble())
}

// finish notes that the namespace's source has nothing more to say, so that it
// does not hold back the version.
func (s *namespaceSink[T]) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished = true
	if s.synced && !s.removed && !s.ended {
		if version := s.advance(); version != "" {
			s.sink.Bookmark(version)
		}
	}
}

// contains reports whether an object is in the namespace. What is not is left
// out; with objects that are nil, the sink does that.
func (s *namespaceSink[T]) contains(obj T, resourceVersion string, listed bool) bool {
	var none T
	if obj == none || obj.GetNamespace() == s.namespace {
		return true
	}
	s.reject(index.KeyOf(obj), resourceVersion, listed)
	return false
}

func (s *namespaceSink[T]) reject(key index.Key, resourceVersion string, listed bool) {
	s.sink.Report(&RejectedError{
		Key: key, ResourceVersion: resourceVersion, Listed: listed,
		Err: fmt.Errorf("it came from the source of the namespace %s", s.namespace),
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
