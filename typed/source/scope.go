package source

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/kubetyped/informer/index"
)

// scope is the Sink of one namespace of several. Its fields are guarded by mu of
// scopes.
type scope[T index.Object] struct {
	*scopes[T]
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

// Add implements Sink.
func (s *scope[T]) Add(obj T, resourceVersion string) {
	if s.contains(obj, resourceVersion, false) && s.begin() {
		s.sink.Add(obj, s.reach(resourceVersion))
		s.mu.Unlock()
	}
}

// Update implements Sink.
func (s *scope[T]) Update(obj T, resourceVersion string) {
	if s.contains(obj, resourceVersion, false) && s.begin() {
		s.sink.Update(obj, s.reach(resourceVersion))
		s.mu.Unlock()
	}
}

// Delete implements Sink.
func (s *scope[T]) Delete(obj T, resourceVersion string) {
	if s.contains(obj, resourceVersion, false) && s.begin() {
		s.sink.Delete(obj, s.reach(resourceVersion))
		s.mu.Unlock()
	}
}

// DeleteKey implements Sink.
func (s *scope[T]) DeleteKey(key index.Key, resourceVersion string) {
	if s.isOwn(key.Namespace) && s.begin() {
		s.sink.DeleteKey(key, s.reach(resourceVersion))
		s.mu.Unlock()
	}
}

// Remove implements Sink.
func (s *scope[T]) Remove(key index.Key, resourceVersion string) {
	if s.isOwn(key.Namespace) && s.begin() {
		s.sink.Remove(key, s.reach(resourceVersion))
		s.mu.Unlock()
	}
}

// Bookmark implements Sink.
func (s *scope[T]) Bookmark(resourceVersion string) {
	if s.begin() {
		if version := s.reach(resourceVersion); version != "" {
			s.sink.Bookmark(version)
		}
		s.mu.Unlock()
	}
}

// Resync implements Sink.
func (s *scope[T]) Resync() {
	if s.begin() {
		s.sink.Resync()
		s.mu.Unlock()
	}
}

// begin waits until the informer is synced, so that nothing but lists has to be
// kept before. It reports whether the report may be made, and then holds mu.
func (s *scope[T]) begin() bool {
	s.mu.Lock()
	for !s.synced && !s.removed && !s.ended {
		s.changed.Wait()
	}
	if s.removed || s.ended {
		s.mu.Unlock()
		return false
	}
	return true
}

// reach notes the version of a report, and returns the one to pass on. The caller
// holds mu.
func (s *scope[T]) reach(version string) string {
	if version == "" {
		return ""
	}
	before := s.version
	s.version = version
	if s.exact && before != s.scopes.version {
		return "" // others hold it back
	}
	return s.advance()
}

// Stage implements Sink. It takes no lock: namespaces are listed at the same
// time.
func (s *scope[T]) Stage(obj T, resourceVersion string) Staged {
	if !s.contains(obj, resourceVersion, true) {
		return Reject()
	}
	return s.sink.Stage(obj, resourceVersion)
}

// Replace implements Sink.
func (s *scope[T]) Replace(objs []T, resourceVersion string) {
	s.ReplaceStaged(stageAll(s, objs), resourceVersion)
}

// ReplaceStaged implements Sink.
func (s *scope[T]) ReplaceStaged(list []Staged, resourceVersion string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed || s.ended {
		return
	}
	s.note(nil) // before anybody can see that it is listed
	s.listed, s.version = true, resourceVersion
	if !s.synced {
		s.first = list
		s.syncIfListed()
		return
	}
	s.sink.ReplaceNamespaceStaged(s.namespace, list, s.advance())
}

// ReplaceNamespace implements Sink.
func (s *scope[T]) ReplaceNamespace(namespace string, objs []T, resourceVersion string) {
	s.ReplaceNamespaceStaged(namespace, stageAll(s, objs), resourceVersion)
}

// ReplaceNamespaceStaged implements Sink.
func (s *scope[T]) ReplaceNamespaceStaged(namespace string, list []Staged, resourceVersion string) {
	if s.isOwn(namespace) {
		s.ReplaceStaged(list, resourceVersion)
	}
}

// RemoveNamespace implements Sink.
func (s *scope[T]) RemoveNamespace(namespace, resourceVersion string) {
	if s.isOwn(namespace) && s.begin() {
		s.sink.RemoveNamespace(namespace, s.reach(resourceVersion))
		s.mu.Unlock()
	}
}

// Progress implements Sink.
func (s *scope[T]) Progress(received, expected int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed || s.ended {
		return
	}
	s.received, s.expected = received, expected
	s.sink.Progress(s.progress())
}

// Report implements Sink.
func (s *scope[T]) Report(err error) {
	var rejected *RejectedError
	if errors.As(err, &rejected) {
		s.sink.Report(err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.removed && !s.ended {
		s.note(err)
	}
}

// note notes how the namespace fares. That it works again is passed on when all
// do. The caller holds mu.
func (s *scope[T]) note(err error) {
	if err == nil {
		s.err = nil
		if s.trouble() == nil {
			s.sink.Report(nil)
		}
		return
	}
	s.err = &NamespaceError{Namespace: s.namespace, Err: err}
	s.sink.Report(s.trouble())
}

// finish notes that the namespace's source has nothing more to say, so that it
// does not hold back the version.
func (s *scope[T]) finish() {
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
func (s *scope[T]) contains(obj T, resourceVersion string, listed bool) bool {
	var none T
	if obj == none || obj.GetNamespace() == s.namespace {
		return true
	}
	s.reject(index.KeyOf(obj), resourceVersion, listed)
	return false
}

func (s *scope[T]) reject(key index.Key, resourceVersion string, listed bool) {
	s.sink.Report(&RejectedError{
		Informer: reflect.TypeFor[T]().String(), Key: key, ResourceVersion: resourceVersion, Listed: listed,
		Err: fmt.Errorf("it came from the source of the namespace %s", s.namespace),
	})
}

// isOwn reports whether a report on a namespace is about the scope's own, and
// rejects it otherwise.
func (s *scope[T]) isOwn(namespace string) bool {
	if namespace != s.namespace {
		s.reject(index.Key{Namespace: namespace}, "", false)
	}
	return namespace == s.namespace
}
