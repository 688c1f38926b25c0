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
	m.running.Go(func() {
		defer utilruntime.HandleCrashWithContext(m.ctx)
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-timer.C:
			m.health.excuse()
			m.syncIfReady()
			m.report()
		case <-m.synced:
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
	if first, over := s.health.fail(failed); first {
		s.expireLater(over)
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

// expireLater takes the objects of the cluster out when it has failed for the time of
// WithExpiry. Over is closed when it works again.
func (s *session[T]) expireLater(over <-chan struct{}) {
	expiry := s.of.config.expiry
	if expiry == 0 {
		return
	}
	m := s.member
	m.running.Go(func() {
		defer utilruntime.HandleCrashWithContext(m.ctx)
		timer := time.NewTimer(expiry)
		defer timer.Stop()
		select {
		case <-timer.C:
			m.expire(over)
		case <-over:
		case <-m.left:
		case <-m.ctx.Done():
		}
	})
}

// expire takes the objects of the cluster out, unless it works again, and starts a session that
// lists it again: a watch that continues would not bring them back.
func (m *member[T]) expire(over <-chan struct{}) {
	if monitor.IsClosed(over) || !m.health.isListed() {
		return
	}
	m.stopSession()
	m.order.Lock()
	defer m.order.Unlock()
	if m.session == nil {
		return // it has left
	}
	klog.FromContext(m.ctx).Info("The objects of a cluster of a fleet expire", "cluster", m.name, "objects", m.names.n)
	m.drop()
	if !m.health.isOver() {
		m.begin(m.newSession(m.session.cluster))
	}
}
