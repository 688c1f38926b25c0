package fleet

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// Stage implements source.Sink. It takes no lock: clusters are listed at the same time.
func (s *session[T]) Stage(obj T, resourceVersion string) source.Staged {
	in, ok := s.take(obj, resourceVersion, true)
	if !ok {
		return source.Reject()
	}
	return &staged{s.sink.Stage(in, resourceVersion), in.at, obj.GetName()}
}

// Replace implements source.Sink.
func (s *session[T]) Replace(namespace string, objs []T, resourceVersion string) {
	var none T
	list := make([]source.Staged, len(objs))
	for i, obj := range objs {
		list[i] = s.Stage(obj, "")
		objs[i] = none
	}
	s.ReplaceStaged(namespace, list, resourceVersion)
}

// ReplaceStaged implements source.Sink. To the source of a cluster, that is all there is.
func (s *session[T]) ReplaceStaged(namespace string, list []source.Staged, resourceVersion string) {
	if namespace != metav1.NamespaceAll {
		s.replaceNamespace(namespace, list, resourceVersion)
		return
	}
	s.Report(nil) // before anybody can see that it is listed
	defer s.tell()
	s.order.Lock()
	defer s.order.Unlock()
	if s.session != s {
		return
	}
	known := s.health.isListed()
	inner, listed := unpack(list)
	if s.keepFirst(inner, listed, resourceVersion) {
		return
	}
	gone := s.exchange(listed)
	reason := index.Relisted
	if !known {
		reason = index.Acquired
	}
	s.versions.Lock()
	s.health.list(resourceVersion)
	s.sink.ReplacePart(inner, gone, reason, s.allVersions())
	s.versions.Unlock()
	s.pass(resourceVersion)
}

// keepFirst keeps a list for the first one of the informer, and reports whether it has: the
// informer may be synced. The caller holds order.
func (s *session[T]) keepFirst(list []source.Staged, listed names, resourceVersion string) bool {
	s.first.Lock()
	defer s.first.Unlock()
	if s.isSynced() {
		return false
	}
	s.names = names{} // the informer was told of none
	s.exchange(listed)
	s.health.list(resourceVersion)
	s.firsts.listed, s.firsts.list = true, list
	s.syncNow()
	return true
}

// replaceNamespace takes in a list of one namespace of the cluster.
func (s *session[T]) replaceNamespace(namespace string, list []source.Staged, resourceVersion string) {
	if !s.enter() {
		return
	}
	defer s.order.Unlock()
	inner, listed := unpack(list)
	kept, _ := s.health.takeRejected(&namespace)
	for _, key := range kept {
		if s.names.has(key.Namespace, key.Name) {
			listed.add(key.Namespace, key.Name)
		}
	}
	s.names.removeNamespace(namespace)
	for in, name := range listed.all() {
		s.names.add(in, name)
	}
	s.objects.Store(int64(s.names.n))
	s.sink.ReplaceStaged(s.placeOf(namespace).Value().joined, inner, "")
	s.pass(resourceVersion)
}

// ReplacePart implements source.Sink.
func (s *session[T]) ReplacePart(list []source.Staged, gone []index.Key, reason index.Reason, resourceVersion string) {
	for _, key := range gone {
		s.health.repair(key)
	}
	if !s.enter() {
		return
	}
	defer s.order.Unlock()
	for i, key := range gone {
		gone[i] = s.keyOf(key)
		s.forget(key)
	}
	inner, listed := unpack(list)
	for namespace, name := range listed.all() {
		s.names.add(namespace, name)
	}
	s.objects.Store(int64(s.names.n))
	s.sink.ReplacePart(inner, gone, reason, "")
	s.pass(resourceVersion)
}

// Report implements source.Sink.
func (s *session[T]) Report(err error) {
	var rejected *source.RejectedError
	var waiting *source.WaitingError
	switch {
	case errors.As(err, &rejected):
		s.reject(rejected)
	case errors.As(err, &waiting):
		s.health.wait(&ClusterError{s.name, err})
	case err != nil:
		s.fail(err)
	default:
		s.work()
	}
}

// reject passes on that an object was rejected, by its key.
func (s *session[T]) reject(rejected *source.RejectedError) {
	if rejected.Err == nil {
		s.health.repair(rejected.Key)
	} else {
		s.health.reject(rejected.Key, rejected.Listed)
	}
	known := *rejected
	known.Key = Key(s.name, rejected.Key.Namespace, rejected.Key.Name)
	s.sink.Report(&known)
}
