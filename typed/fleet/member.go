package fleet

import (
	"context"
	"sync"
	"sync/atomic"
	"unique"

	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/monitor"
	"github.com/kubetyped/informer/typed/source"
)

// member is a cluster of a group, from when it joins until it leaves. Its objects come by
// sessions, one after another: there is another one when the cluster's configuration
// changes, or its objects have expired.
type member[T Object] struct {
	*group[T]

	name    string
	joined  uint64        // see entry
	changed uint64        // see entry, of the latest session; guarded by group.mu, written by the goroutine of Run
	left    chan struct{} // closed when it has left
	objects atomic.Int64  // how many names there are
	places  sync.Map      // unique.Handle[place] by namespace; of names, and a few more
	firsts  struct {      // guarded by group.first
		listed bool
		list   []source.Staged
	}

	order   monitor.LongLock // held through each report, so that names match the reports to the informer
	session *session[T]      // guarded by order; nil: the cluster has left
	config  *rest.Config     // guarded by order; of the latest session
	names   names            // guarded by order; of the objects that were reported to the informer

	source atomic.Pointer[source.Source[T]] // of the session, once it is there; changed with order held

	health health
}

func newMember[T Object](g *group[T], e entry) *member[T] {
	return &member[T]{group: g, name: e.Name, joined: e.joined, order: monitor.NewLongLock(), left: make(chan struct{})}
}

// start begins a session. The sessions before it are over.
func (m *member[T]) start(c Cluster) {
	m.stopSession()
	m.order.Lock()
	defer m.order.Unlock()
	m.stopSession() // one that expire has begun meanwhile
	if !sameConfig(m.config, c.Config) {
		m.health.forgetVersions()
	}
	m.config = c.Config
	m.begin(m.newSession(c))
}

func (m *member[T]) newSession(c Cluster) *session[T] {
	s := &session[T]{member: m, cluster: c}
	s.ctx, s.cancel = context.WithCancel(m.ctx)
	return s
}

// stopSession ends the context of the session, so that it waits for nothing and holds no
// lock for long.
func (m *member[T]) stopSession() {
	if s := m.health.current(); s != nil {
		s()
	}
}

// begin starts a session, whose reports count from now on. The caller holds order.
func (m *member[T]) begin(s *session[T]) {
	m.session = s
	m.source.Store(nil)
	m.health.begin(s.cancel)
	m.running.Go(s.run)
}

// leave takes the cluster's objects out.
func (m *member[T]) leave() {
	m.stopSession()
	m.lines.Forget(m.name)
	m.order.Lock()
	defer m.order.Unlock()
	m.stopSession() // one that expire has begun meanwhile
	m.session = nil
	close(m.left)
	m.drop()
	if waiters := m.health.dismiss(); len(waiters) > 0 {
		m.due.add(waiters)
	}
}

// drop takes all objects out. The caller holds order.
func (m *member[T]) drop() {
	gone := m.keysOf(&m.names)
	for _, one := range m.health.drop() {
		if one.stands {
			m.sink.Report(&source.RejectedError{Key: m.keyOf(one.key), Stands: true})
		} else {
			gone = append(gone, m.keyOf(one.key))
		}
	}
	m.names = names{}
	m.objects.Store(0)
	m.places.Clear()

	m.first.Lock()
	m.firsts.listed, m.firsts.list = false, nil
	m.first.Unlock()
	switch {
	case !m.isSynced():
	case len(gone) == 0:
		m.bookmark()
	default:
		m.versions.Lock()
		m.sink.Replace(source.List{Part: true, Gone: gone, Reason: index.Released}, m.allVersions())
		m.versions.Unlock()
	}
}

// placeOf returns a namespace of the cluster.
func (m *member[T]) placeOf(namespace string) unique.Handle[place] {
	if known, ok := m.places.Load(namespace); ok {
		return known.(unique.Handle[place])
	}
	at := newPlace(m.name, namespace)
	m.places.Store(namespace, at)
	return at
}

// keyOf returns the key by which the informer knows an object.
func (m *member[T]) keyOf(inCluster index.Key) index.Key {
	return index.Key{Namespace: m.placeOf(inCluster.Namespace).Value().joined, Name: inCluster.Name}
}

// keysOf returns the keys of objects.
func (m *member[T]) keysOf(of *names) []index.Key {
	keys := make([]index.Key, 0, of.n)
	for namespace, name := range of.all() {
		keys = append(keys, m.keyOf(index.Key{Namespace: namespace, Name: name}))
	}
	return keys
}

// stay adds those that were rejected to what a list has, if the informer has an earlier state
// of them. The caller holds order.
func (m *member[T]) stay(listed *names, rejected []index.Key) {
	for _, key := range rejected {
		if m.names.has(key.Namespace, key.Name) {
			listed.add(key.Namespace, key.Name)
		}
	}
}

// exchange has listed be the objects that there are, and returns the keys of those that
// are gone. Rejected are those of them that were. The caller holds order.
func (m *member[T]) exchange(listed names, rejected []index.Key) (gone []index.Key) {
	m.stay(&listed, rejected)
	for _, key := range m.health.takeRejected(nil, rejected) {
		if !listed.has(key.Namespace, key.Name) && !m.names.has(key.Namespace, key.Name) {
			gone = append(gone, m.keyOf(key)) // so that it is no longer counted as rejected
		}
	}
	for namespace, name := range m.names.all() {
		if !listed.has(namespace, name) {
			gone = append(gone, m.keyOf(index.Key{Namespace: namespace, Name: name}))
		}
	}
	m.names = listed
	m.objects.Store(int64(listed.n))
	m.places.Range(func(namespace, _ any) bool {
		if _, ok := listed.in[namespace.(string)]; !ok {
			m.places.Delete(namespace)
		}
		return true
	})
	return gone
}

// note notes that an object is there. The caller holds order.
func (m *member[T]) note(obj InCluster[T]) {
	m.names.add(obj.Namespace(), obj.GetName())
	m.objects.Store(int64(m.names.n))
}

// forget notes that an object is gone. The caller holds order.
func (m *member[T]) forget(key index.Key) {
	if m.names.remove(key.Namespace, key.Name) {
		m.places.Delete(key.Namespace)
	}
	m.objects.Store(int64(m.names.n))
}
