package shard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
)

// sighting is what is seen of the Lease of another member.
type sighting struct {
	record
	lease     *coordinationv1.Lease
	at        time.Time // since when it could have been seen to change, and has not
	changes   int       // how often it has changed since it was seen first
	senseless bool      // the Lease cannot be read
	other     int       // in how many states in a row it was seen with other options
	dead      bool      // it was not renewed for as long as it says
}

// look lists all Leases, and returns those of others, by their names. The list begins after
// all that this member has written before.
func (m *member) look(ctx context.Context) ([]*sighting, error) {
	request, cancel := m.limited(ctx)
	defer cancel()
	list, err := m.leases.List(request, groupLabel+"="+m.label)
	if err != nil {
		return nil, fmt.Errorf("the Leases cannot be listed: %w", err)
	}
	now, own := time.Now(), false
	unseen := m.unseen(now)
	seen := map[types.UID]*sighting{}
	for i := range list.Items {
		lease := &list.Items[i]
		if lease.Annotations[processAnnotation] == m.process {
			own = m.adopt(lease) || own
			continue
		}
		seen[lease.UID] = m.sight(m.others[lease.UID], lease, now, unseen)
	}
	others := slices.SortedFunc(maps.Values(seen), func(a, b *sighting) int { return strings.Compare(a.lease.Name, b.lease.Name) })
	m.reapSome(others, now)
	m.others = seen
	if m.lease != nil && !own {
		m.lose()
	}
	m.showMembers(others)
	return others, nil
}

// unseen returns for how long no list has succeeded, beyond the usual time. Renewals could not
// be seen meanwhile, so after an outage of the API server, no member is dead for that.
func (m *member) unseen(now time.Time) time.Duration {
	before := m.looked
	m.looked = now
	if before.IsZero() {
		return 0
	}
	return max(0, now.Sub(before)-2*m.retryPeriod)
}

// adopt looks at the own Lease. If it is not as it was written, a request has taken effect
// whose answer was lost, or another process has changed it.
func (m *member) adopt(lease *coordinationv1.Lease) bool {
	switch {
	case m.lease == nil: // it was made, unheard of, or is to be deleted
		if m.gone.Has(lease.UID) {
			return false
		}
		m.lease, m.sure = lease, false
		return true
	case lease.UID != m.lease.UID:
		return false
	case lease.ResourceVersion == m.lease.ResourceVersion:
		return true
	}
	edited := m.sure
	m.lease, m.sure = lease, false
	written, err := recordOf(lease)
	if edited || err != nil {
		m.logger.Error(err, "The Lease of this member was changed by another process")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if edited {
		m.status.Edited++
	}
	if missing := m.held.minus(written.holds); !missing.empty() { // not by a request of this member
		m.active, m.held = m.active.minus(missing), m.held.minus(missing)
		m.endCalls(missing, ErrLost)
		m.keep(m.held)
	}
	return true
}

// sight returns what is seen of the Lease of another member now, after what was seen before;
// nil if that is nothing. Since then it could not be seen for some time.
func (m *member) sight(was *sighting, lease *coordinationv1.Lease, now time.Time, unseen time.Duration) *sighting {
	if was != nil && was.lease.ResourceVersion == lease.ResourceVersion {
		s := *was
		s.at = s.at.Add(unseen)
		s.dead = now.Sub(s.at) > s.duration
		return &s
	}
	s := &sighting{lease: lease, at: now}
	var err error
	if s.record, err = recordOf(lease); err == nil && s.options == "" {
		err = errors.New("options are missing")
	}
	if err != nil { // no member takes what it may hold
		m.logger.Error(err, "The Lease of a member is invalid")
		s.record, s.senseless = record{identity: lease.Name, holds: everything, options: m.options()}, true
	}
	if s.duration <= 0 {
		s.duration = m.leaseDuration
	}
	if was != nil {
		s.changes = was.changes + 1
	}
	if s.options != m.options() {
		s.other = 1
		if was != nil {
			s.other += was.other
		}
	}
	return s
}
