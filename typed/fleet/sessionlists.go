package fleet

import (
	"cmp"
	"errors"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// Stage implements source.Sink. It takes no lock: clusters are listed at the same time.
func (s *session[T]) Stage(obj T, version string) source.Staged {
	in, ok := s.take(obj, version, true)
	if !ok {
		return source.Reject(index.Key{}) // it is nil
	}
	inner := s.sink.Stage(in, version)
	if _, is := source.Rejected(inner); is {
		s.health.reject(rejection{key: index.KeyOf(obj)})
	}
	return &staged{inner, in.at, obj.GetName()}
}

// Replace implements source.Sink. To the source of a cluster, a list of everything is all
// that there is.
func (s *session[T]) Replace(l source.List, version string) {
	switch {
	case l.Part:
		s.replacePart(l, version)
	case l.Namespace == metav1.NamespaceAll:
		s.replaceAll(l, version)
	case l.Leaves():
		s.removeNamespace(l, version)
	default:
		s.replaceNamespace(l, version)
	}
}

// replaceAll takes in a list of everything.
func (s *session[T]) replaceAll(l source.List, version string) {
	s.Report(nil) // before readers can see that it is listed
	defer s.report()
	s.order.Lock()
	defer s.order.Unlock()
	if s.session != s {
		return
	}
	known := s.health.isListed()
	inner, listed, rejected := s.unpack(l.Items)
	if s.keepFirst(inner, listed, rejected, version) {
		return
	}
	gone := s.exchange(listed, rejected)
	reason := index.Relisted
	if !known {
		reason = index.Acquired
	}
	gone = s.release(gone, l.Released)
	s.versions.Lock()
	s.health.list(version)
	s.sink.Replace(source.List{Part: true, Items: inner, Gone: gone, Reason: cmp.Or(l.Reason, reason)}, s.allVersions())
	s.versions.Unlock()
	s.pass(version)
}

// release takes out those of the gone objects that the source no longer covers, and returns the
// others. The caller holds order.
func (s *session[T]) release(gone []index.Key, released func(key index.Key) bool) []index.Key {
	if released == nil {
		return gone
	}
	stays := gone[:0]
	var others []index.Key
	for _, key := range gone {
		if _, own := Split(key); released(own) {
			others = append(others, key)
		} else {
			stays = append(stays, key)
		}
	}
	if len(others) > 0 {
		s.sink.Replace(source.List{Part: true, Gone: others, Reason: index.Released}, "")
	}
	return stays
}

// keepFirst keeps a list for the first one of the informer, and reports whether it has: the
// informer may be synced. The caller holds order.
func (s *session[T]) keepFirst(list []source.Staged, listed names, rejected []index.Key, resourceVersion string) bool {
	s.first.Lock()
	defer s.first.Unlock()
	if s.isSynced() {
		return false
	}
	s.names = names{} // none was reported to the informer
	s.exchange(listed, rejected)
	s.health.list(resourceVersion)
	s.firsts.listed, s.firsts.list = true, list
	s.syncNow()
	return true
}

// replaceNamespace takes in a list of one namespace of the cluster.
func (s *session[T]) replaceNamespace(l source.List, version string) {
	if !s.enter() {
		return
	}
	defer s.order.Unlock()
	inner, listed, rejected := s.unpack(l.Items)
	s.stay(&listed, rejected)
	s.health.takeRejected(&l.Namespace, rejected)
	s.names.removeNamespace(l.Namespace)
	for in, name := range listed.all() {
		s.names.add(in, name)
	}
	s.objects.Store(int64(s.names.n))
	s.sink.Replace(source.List{Namespace: s.placeOf(l.Namespace).Value().joined, Items: inner, Reason: l.Reason}, "")
	s.pass(version)
}

// removeNamespace takes out the objects of a namespace of the cluster.
func (s *session[T]) removeNamespace(l source.List, version string) {
	if !s.enter() {
		return
	}
	defer s.order.Unlock()
	s.health.takeRejected(&l.Namespace, nil)
	s.sink.Replace(source.List{Namespace: s.placeOf(l.Namespace).Value().joined, Reason: l.Reason}, "")
	s.names.removeNamespace(l.Namespace)
	s.objects.Store(int64(s.names.n))
	s.places.Delete(l.Namespace)
	s.pass(version)
}

// replacePart takes in a list of a part of the cluster's objects.
func (s *session[T]) replacePart(l source.List, version string) {
	for _, key := range l.Gone {
		s.health.repair(rejection{key: key})
	}
	if !s.enter() {
		return
	}
	defer s.order.Unlock()
	for i, key := range l.Gone {
		l.Gone[i] = s.keyOf(key)
		s.forget(key)
	}
	inner, listed, _ := s.unpack(l.Items)
	for namespace, name := range listed.all() {
		s.names.add(namespace, name)
		s.health.repair(rejection{key: index.Key{Namespace: namespace, Name: name}})
	}
	s.objects.Store(int64(s.names.n))
	l.Items = inner
	s.sink.Replace(l, "")
	s.pass(version)
}

// Report implements source.Sink.
func (s *session[T]) Report(err error) {
	if rejected, ok := source.AsRejected(err); ok {
		s.reject(rejected)
		return
	}
	var waiting *source.WaitingError
	switch {
	case errors.As(err, &waiting):
		s.health.wait(&ClusterError{s.name, err})
	case errors.Is(err, source.ErrNotStreamed): // the cluster does not fail
		s.sink.Report(&ClusterError{s.name, err})
	case err != nil:
		s.fail(err)
	default:
		s.work()
	}
}

// reject passes on that an object was rejected, by its key. A rejection of a watch waits until the
// informer is synced, as changes do: the first list has earlier states.
func (s *session[T]) reject(rejected *source.RejectedError) {
	s.order.Lock()
	defer s.order.Unlock()
	watched := !rejected.Listed && !rejected.Stands && s.health.isListed()
	if s.session != s || watched && !s.awaitSync() {
		return
	}
	if at := (rejection{rejected.Key, rejected.Stands}); rejected.Err == nil {
		s.health.repair(at)
	} else {
		s.health.reject(at)
	}
	known := *rejected
	known.Key = Key(s.name, rejected.Key.Namespace, rejected.Key.Name)
	s.sink.Report(&known)
}

// staged is an object of a list of a cluster, as the informer's sink has taken it in, with its
// key, which otherwise only the sink knows.
type staged struct {
	source.Staged

	at   unique.Handle[place]
	name string
}

// Key implements source.Staged: it is that of the object in its cluster.
func (s *staged) Key() index.Key {
	if s.Staged.Key() == (index.Key{}) {
		return index.Key{}
	}
	return index.Key{Namespace: valueOf(s.at).namespace, Name: s.name}
}

// unpack returns what the informer's sink has taken in, the names of the objects, and the keys
// of rejected ones. The names include neither these nor objects that were left out on purpose.
func (m *member[T]) unpack(list []source.Staged) (inner []source.Staged, listed names, rejected []index.Key) {
	inner = make([]source.Staged, 0, len(list))
	for i, one := range list {
		list[i] = nil
		obj, ok := one.(*staged)
		if !ok {
			if key, is := source.Rejected(one); is { // before it came here
				rejected = append(rejected, key)
				one = source.Reject(m.keyOf(key))
			}
			inner = append(inner, one)
			continue
		}
		inner = append(inner, obj.Staged)
		if _, is := source.Rejected(obj.Staged); is {
			rejected = append(rejected, obj.Key())
		} else if obj.Staged != source.LeaveOut() {
			listed.add(valueOf(obj.at).namespace, obj.name)
		}
	}
	return inner, listed, rejected
}
