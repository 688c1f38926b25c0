package shard

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// join makes a Lease.
func (m *member) join(ctx context.Context) error {
	for _, s := range m.others {
		switch {
		case s.dead:
		case s.lease.Name == m.leaseName() && s.changes > 1 && !s.leaving && !m.isOwn(s.lease):
			return &IdentityError{Identity: m.identity}
		case s.other > 1:
			return m.differs(s)
		case s.other == 1: // of a member that may be dead
			return fmt.Errorf("waiting to see whether member %s is alive, which has %s, where this one has %s", s.identity, s.options, m.options())
		}
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name: m.leaseName(), Labels: map[string]string{groupLabel: m.label}, Annotations: map[string]string{processAnnotation: m.process},
	}}
	lease.Spec.AcquireTime = new(metav1.NowMicro())
	request, cancel := m.limited(ctx)
	defer cancel()
	begin := time.Now()
	created, err := m.leases.Create(request, record{identity: m.identity, options: m.options(), duration: m.leaseDuration}.write(lease))
	if apierrors.IsAlreadyExists(err) {
		return m.reclaim(ctx, err)
	}
	if err != nil {
		return fmt.Errorf("the Lease cannot be made: %w", err)
	}
	m.lease, m.sure, m.wants, m.joined, m.hidden = created, true, ranges{}, true, nil
	m.mu.Lock()
	defer m.mu.Unlock()
	m.extend(begin)
	return nil
}

// reclaim looks at the Lease that has the name of this member's, and deletes it if its owner is
// dead. A list of the group does not contain that Lease if its label was removed.
func (m *member) reclaim(ctx context.Context, exists error) error {
	for _, s := range m.others {
		if s.lease.Name == m.leaseName() && !m.isOwn(s.lease) {
			return fmt.Errorf("the Lease of an earlier process of this identity has not expired yet: %w", exists)
		}
	}
	request, cancel := m.limited(ctx)
	defer cancel()
	lease, err := m.leases.Get(request, m.leaseName())
	if err != nil {
		return fmt.Errorf("the Lease %s cannot be read, which is in the way: %w", m.leaseName(), err)
	}
	if group := lease.Labels[groupLabel]; group != "" && group != m.label {
		return fmt.Errorf("the Lease %s is of the group %q; give this member another identity", m.leaseName(), group)
	}
	was := m.hidden
	if was != nil && was.lease.UID != lease.UID {
		was = nil
	}
	m.hidden = m.sight(was, lease, time.Now(), 0)
	own := m.isOwn(lease)
	switch {
	case !own && m.hidden.changes > 1:
		return &IdentityError{Identity: m.identity}
	case !own && !m.hidden.dead:
		return fmt.Errorf("the Lease %s has lost its label %s, and has not expired yet: %w", m.leaseName(), groupLabel, exists)
	}
	if err := m.leases.Delete(request, lease.Name, metav1.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion}); err != nil {
		return fmt.Errorf("the Lease %s cannot be deleted, which is in the way: %w", m.leaseName(), err)
	}
	return fmt.Errorf("the Lease %s was in the way, and was deleted", m.leaseName())
}

// isOwn reports whether this process has made a Lease, even if it was edited.
func (m *member) isOwn(lease *coordinationv1.Lease) bool {
	return m.gone.Has(lease.UID) || lease.Annotations[processAnnotation] == m.process
}

// differs returns the error that another member has other options.
func (m *member) differs(s *sighting) *OptionsError {
	return &OptionsError{Own: m.options(), Theirs: s.options, Member: s.identity}
}

// conflict returns an error if another member that is alive has other options: both have
// joined at the same time. One of them leaves.
func (m *member) conflict(others []*sighting) error {
	for _, s := range others {
		if s.other < 2 || s.dead || s.leaving || m.lease == nil {
			continue
		}
		err := m.differs(s)
		if m.yields(s) && m.refused == nil {
			m.refused = err
		}
		return err
	}
	return nil
}

// yields reports whether of two members with different options it is this one that leaves:
// the one that has no ranges, or has joined later.
func (m *member) yields(to *sighting) bool {
	if ours, theirs := m.same().holds.empty(), to.holds.empty(); ours != theirs {
		return ours
	}
	ours, theirs := &m.lease.CreationTimestamp, &to.lease.CreationTimestamp
	if !ours.Equal(theirs) {
		return theirs.Before(ours)
	}
	return to.lease.Name < m.lease.Name
}
