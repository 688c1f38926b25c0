package fleet

import (
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/internal/monitor"
)

// bePatient limits for how long the first sync waits for the cluster.
func (m *member[T]) bePatient() {
	patience := m.of.config.patience
	if patience == 0 || m.of.config.all || m.isSynced() {
		return
	}
	m.later(patience, m.synced, func() {
		m.health.excuse()
		m.syncIfReady()
		m.report()
	})
}

// later calls f when a time has passed, unless the cluster leaves, the group ends, or unless is
// closed before.
func (m *member[T]) later(d time.Duration, unless <-chan struct{}, f func()) {
	m.running.Go(func() {
		defer utilruntime.HandleCrashWithContext(m.ctx)
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			f()
		case <-unless:
		case <-m.left:
		case <-m.ctx.Done():
		}
	})
}

// fail notes a failure of the cluster.
func (s *session[T]) fail(err error) {
	if s.ctx.Err() != nil {
		return // it is another session's
	}
	failed := &ClusterError{Cluster: s.name, Err: err}
	s.lines.Fail(s.name, err)
	expiry := s.of.config.expiry
	if first, over := s.health.fail(failed); first && expiry > 0 {
		m := s.member
		m.later(expiry, over, func() { m.expire(over) })
	}
	s.noteFailure(s.member)
	s.syncIfReady()
	s.report()
}

// work notes that the cluster works.
func (s *session[T]) work() {
	if s.ctx.Err() != nil {
		return
	}
	s.health.work()
	s.lines.Work(s.name)
	s.noteFailure(s.member)
	s.report()
}

// expire takes the objects of the cluster out after the time of WithExpiry, unless it works again,
// and starts a session that lists it again: a watch that continues would not bring them back.
func (m *member[T]) expire(over <-chan struct{}) {
	if monitor.IsClosed(over) || !m.health.isListed() {
		return
	}
	m.stopSession()
	m.order.Lock()
	defer m.order.Unlock()
	m.stopSession() // one that start has begun meanwhile
	if m.session == nil {
		return // it has left
	}
	klog.FromContext(m.ctx).Info("The objects of a cluster of a fleet expire", "cluster", m.name, "objects", m.names.n)
	m.drop()
	if !m.health.isOver() {
		m.begin(m.newSession(m.session.cluster))
	}
}
