package shard

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/internal/monitor"
)

// plan returns what the Lease is to say next, as far as others let it, and begins to give up
// the ranges that are to go, see fade.
//
// Ranges that another member mentions are never taken. A range without a mention is wanted at
// first. The next write holds it, if the list in between, which began after the want was
// written, still shows no mention by another member. None is taken while there is a Lease of a
// member with other options, whose ranges have other keys.
func (m *member) plan(others []*sighting) record {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := m.record()
	m.noteOverlap(others)
	target, mentioned, unready := m.target(others)
	m.fade(m.active.minus(target).minus(unready))
	held := m.held.and(m.active.or(m.busy()))
	granted := ranges{}
	if m.sure && !slices.ContainsFunc(others, func(s *sighting) bool { return s.other > 0 }) {
		granted = m.wants.and(target).minus(mentioned)
	}
	lasting := ranges{} // wants that others have as well; who is not to have the range withdraws
	for _, s := range others {
		lasting = lasting.or(s.wants)
	}
	away := target.minus(m.held).minus(m.busy())
	m.prepare(away)
	free := away.minus(mentioned)
	next.holds = held.or(granted)
	next.wants = free.or(m.wants.and(target).and(lasting)).minus(granted).minus(held)
	for _, s := range others {
		next.wants = next.wants.minus(s.holds)
	}
	next.prepares, next.listed = away.minus(granted), m.listed().minus(granted)
	m.status.Waiting = m.waitsFor(target.minus(next.holds), others)
	return next
}

// noteOverlap counts how often another member has begun to hold a range of this one.
// The caller holds mu.
func (m *member) noteOverlap(others []*sighting) {
	theirs := ranges{}
	for _, s := range others {
		if !s.senseless {
			theirs = theirs.or(s.holds)
		}
	}
	both := m.held.and(theirs)
	if !both.minus(m.overlap).empty() {
		m.status.Overlaps++
		m.logger.Error(nil, "This member and another one hold the same ranges: Leases were edited", "ranges", both.count())
	}
	m.overlap = both
}

// same returns what the Lease says, for a renewal that changes nothing.
func (m *member) same() record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.record()
}

// record returns what the Lease says, as far as it is sure. The caller holds mu.
func (m *member) record() record {
	return record{identity: m.identity, holds: m.held, wants: m.wants, prepares: m.coming, listed: m.listed(), leaving: m.leaving || m.announced, options: m.options(), duration: m.leaseDuration}
}

// target returns which ranges this member is to have, which others hold or want, and which
// they are to have, and have not listed. The caller holds mu.
func (m *member) target(others []*sighting) (target, mentioned, waiting ranges) {
	var members []holder
	if !m.leaving && !m.announced {
		members = append(members, holder{m.lease.Name, m.held, m.coming})
	}
	known := m.held
	for _, s := range others {
		mentioned = mentioned.or(s.holds).or(s.wants)
		if !s.senseless {
			known = known.or(s.holds)
		}
	}
	for _, s := range others {
		holds := s.holds
		if s.senseless { // it can hold what no other member does
			holds = holds.minus(known)
		}
		if !s.leaving && !s.dead && s.other == 0 {
			members = append(members, holder{s.lease.Name, holds, s.prepares})
		}
	}
	m.noteHandedOver(len(members) == 0)
	if len(members) == 0 && !m.leaving {
		return m.held, mentioned, ranges{} // no other member can take it
	}
	assigned := assign(members)
	return assigned[m.lease.Name], mentioned, unready(others, assigned)
}

// renew writes the Lease. It reports whether the next round should follow at once: ranges
// are wanted that were not before.
func (m *member) renew(ctx context.Context, next record) (again bool, err error) {
	request, cancel := m.limited(ctx)
	defer cancel()
	begin := time.Now()
	written, err := m.leases.Update(request, next.write(m.lease))
	if err != nil {
		// It may have taken effect, or may yet do. The next round reads the Lease, and its
		// write is the last: then this one would be refused.
		m.sure = false
		return false, fmt.Errorf("the Lease cannot be renewed: %w", err)
	}
	again = !next.wants.minus(m.wants).empty()
	m.lease, m.sure, m.wants = written, true, next.wants
	m.mu.Lock()
	defer m.mu.Unlock()
	m.extend(begin)
	m.take(next.holds.minus(m.held), written.ResourceVersion)
	m.held = m.held.and(next.holds)
	m.keep(m.held)
	m.status.Wanted = next.wants.or(next.prepares).count()
	return again, nil
}

// take notes that ranges are this member's now. The caller holds mu.
func (m *member) take(granted ranges, version string) {
	for r := range granted.all() {
		m.fences[r] = version
	}
	m.coming = m.coming.minus(granted) // since[r] is of then: they are not listed again
	m.active, m.held = m.active.or(granted), m.held.or(granted)
	m.keep(m.held)
	if !granted.empty() && !monitor.IsClosed(m.ready) {
		close(m.ready)
	}
}

// extend notes a renewal, which began at that time. The caller holds mu.
func (m *member) extend(begin time.Time) {
	m.renewed, m.valid = begin, begin.Add(m.renewDeadline)
	if m.lapse == nil {
		m.lapse = time.AfterFunc(time.Until(m.valid), m.lapsed)
	}
	m.lapse.Reset(m.untilLapse(time.Now()))
}

// leave stops handing out keys, deletes the Lease when no call runs any more, and reports that
// this is the end. A Lease that was not renewed in time is left to expire.
func (m *member) leave(ctx context.Context) bool {
	m.leaving = true
	m.mu.Lock()
	m.stop(everything)
	m.prepare(ranges{})
	calls, valid := len(m.calls), m.isValid(time.Now())
	m.mu.Unlock()
	switch {
	case calls > 0:
		return false
	case m.lease == nil || !valid:
		return true // it expires
	}
	for range 3 {
		request, cancel := m.limited(ctx)
		err := m.leases.Delete(request, m.lease.Name, metav1.Preconditions{UID: &m.lease.UID})
		cancel()
		if err == nil || slices.Contains([]metav1.StatusReason{metav1.StatusReasonNotFound, metav1.StatusReasonConflict}, apierrors.ReasonForError(err)) {
			break
		}
		m.note(fmt.Errorf("the Lease cannot be deleted, and has to expire: %w", err))
	}
	return true
}

// end gives up all that this member owns. Sources keep their objects, because stopping is no
// deletion.
func (m *member) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.valid, m.active, m.coming = time.Time{}, ranges{}, ranges{}
	m.endCalls(everything, ErrLost)
	close(m.ended)
	if m.lapse != nil {
		m.lapse.Stop()
	}
}
