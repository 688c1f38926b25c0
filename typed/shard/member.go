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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// processAnnotation tells apart processes with one identity.
const processAnnotation = "shard.kubetyped.io/process"

// member is one call of Group.Run. All of it is owned by that call's goroutine, which
// alone makes requests.
type member struct {
	*Group
	process string                  // one of a kind
	lease   *coordinationv1.Lease   // of this member, as it was written or read last; nil: there is none
	sure    bool                    // lease was written, and no request since then may yet take effect
	wants   ranges                  // that lease has, if it is sure
	leaving bool                    // ranges are given up
	others  map[types.UID]*sighting // Leases of other members
	gone    map[types.UID]struct{}  // Leases that this member has deleted
	logger  klog.Logger
}

// sighting is what is seen of the Lease of another member.
type sighting struct {
	record
	lease   *coordinationv1.Lease
	at      time.Time // when this state of it was seen first
	changes int       // how often it has changed since it was seen first
}

// Run joins the group and takes part in it until ctx ends. Then it hands out no more keys,
// waits until calls of reconcile functions have returned, whose contexts end when the drain
// timeout has passed, deletes its Lease, and returns nil. It is called once.
//
// What goes wrong with requests is logged and tried again, and told by Status. Run returns
// an error if this member cannot join: a *ForbiddenError, *OptionsError or *IdentityError.
func (g *Group) Run(ctx context.Context) error {
	g.mu.Lock()
	again := g.started
	g.started = true
	g.mu.Unlock()
	if again {
		return fmt.Errorf("%s: it is run a second time", g.Name())
	}
	m := &member{
		Group: g, process: string(uuid.NewUUID()), others: map[types.UID]*sighting{}, gone: map[types.UID]struct{}{},
		logger: klog.FromContext(ctx).WithValues("group", g.name, "member", g.identity),
	}
	defer m.end()
	if err := m.takePart(ctx); err != nil {
		return fmt.Errorf("%s: %w", g.Name(), err)
	}
	return nil
}

// RunJointly has run, which is Run or something that calls it, called once for all who call
// RunJointly at the same time, such as two controllers that need the group. See
// typed.Informer.RunJointly.
func (g *Group) RunJointly(ctx context.Context, run func(ctx context.Context) error) error {
	return g.joint.Run(ctx, g.Name(), run)
}

// takePart makes one round after the other.
func (m *member) takePart(ctx context.Context) error {
	lasting := context.WithoutCancel(ctx)
	for {
		if ctx.Err() != nil && m.leave(lasting) {
			return nil
		}
		begin := time.Now()
		again, err := m.round(lasting)
		m.note(err)
		if isFinal(err) {
			return err
		}
		if !again {
			m.rest(ctx, begin)
		}
	}
}

// rest waits until the next round is due.
func (m *member) rest(ctx context.Context, begin time.Time) {
	next := time.NewTimer(time.Until(begin.Add(m.retryPeriod)))
	defer next.Stop()
	told := ctx.Done()
	if m.leaving {
		told = nil
	}
	select {
	case <-next.C:
	case <-told:
	case <-m.wake: // gather what else ends soon
		time.Sleep(m.retryPeriod / 10)
	}
}

// isFinal reports whether an error is one that Run returns.
func isFinal(err error) bool {
	var options *OptionsError
	var identity *IdentityError
	var forbidden *ForbiddenError
	return errors.As(err, &options) || errors.As(err, &identity) || errors.As(err, &forbidden)
}

// note remembers what a round has failed with.
func (m *member) note(err error) {
	if err != nil {
		m.logger.V(2).Info("A round of requests has failed", "err", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.status.Err = err
}

// limited returns the context of one request: a list and a write have to succeed well
// before the renew deadline.
func (m *member) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, m.renewDeadline/4)
}

// round looks at all Leases, and writes the own one. It reports whether the next round
// should follow at once.
func (m *member) round(ctx context.Context) (again bool, err error) {
	looked, lookErr := m.look(ctx)
	switch {
	case lookErr != nil && m.lease == nil:
		return false, m.explain(lookErr)
	case lookErr != nil && !m.sure:
		return false, lookErr // what would be written is not known
	case lookErr != nil:
		_, err := m.renew(ctx, m.same())
		return false, errors.Join(lookErr, err)
	case m.lease == nil:
		if err := m.join(ctx); err != nil {
			return false, m.explain(err)
		}
		return true, nil
	}
	again, err = m.renew(ctx, m.plan(looked))
	return again, err
}

// explain says which rights are missing, if that is why a member cannot join.
func (m *member) explain(err error) error {
	if apierrors.IsForbidden(err) {
		namespace, _, _ := strings.Cut(m.name, "/")
		return &ForbiddenError{Namespace: namespace, Err: err}
	}
	return err
}

// look lists all Leases, deletes those that have expired, and returns the others, but for
// the own one. The list begins after all that this member has written before.
func (m *member) look(ctx context.Context) ([]*sighting, error) {
	request, cancel := m.limited(ctx)
	defer cancel()
	list, err := m.leases.List(request, groupLabel+"="+m.label)
	if err != nil {
		return nil, fmt.Errorf("the Leases cannot be listed: %w", err)
	}
	now, own := time.Now(), false
	seen := map[types.UID]*sighting{}
	for i := range list.Items {
		lease := &list.Items[i]
		if lease.Annotations[processAnnotation] == m.process {
			own = m.adopt(lease) || own
			continue
		}
		seen[lease.UID] = m.sight(lease, now)
	}
	m.others = seen
	if m.lease != nil && !own {
		m.lose()
	}
	others := slices.SortedFunc(maps.Values(seen), func(a, b *sighting) int { return strings.Compare(a.lease.Name, b.lease.Name) })
	others = slices.DeleteFunc(others, func(s *sighting) bool { return m.expire(ctx, s, now) })
	m.tell(others)
	return others, nil
}

// adopt looks at the own Lease. If it is not as it was written, a request has taken effect
// whose answer was lost, or somebody has changed it.
func (m *member) adopt(lease *coordinationv1.Lease) bool {
	switch {
	case m.lease == nil: // it was made, unheard of, or is to be deleted
		if _, deleted := m.gone[lease.UID]; deleted {
			return false
		}
		m.lease, m.sure = lease, false
		return true
	case lease.UID != m.lease.UID:
		return false
	case lease.ResourceVersion == m.lease.ResourceVersion:
		return true
	}
	m.lease, m.sure = lease, false
	written, err := recordOf(lease)
	if err != nil {
		m.logger.Error(err, "The Lease of this member was changed by somebody else")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if missing := m.held.minus(written.holds); !missing.empty() { // not by a request of this member
		m.active, m.held = m.active.minus(missing), m.held.minus(missing)
		m.endCalls(missing, ErrLost)
		m.keep(m.held)
	}
	return true
}

// sight notes the state of another member's Lease.
func (m *member) sight(lease *coordinationv1.Lease, now time.Time) *sighting {
	was := m.others[lease.UID]
	if was != nil && was.lease.ResourceVersion == lease.ResourceVersion {
		return was
	}
	s := &sighting{lease: lease, at: now}
	if was != nil {
		s.changes = was.changes + 1
	}
	var err error
	if s.record, err = recordOf(lease); err != nil { // nobody takes what it may hold
		m.logger.Error(err, "The Lease of a member makes no sense")
		s.record = record{identity: lease.Name, holds: everything, options: m.options()}
	}
	if s.duration <= 0 {
		s.duration = m.leaseDuration
	}
	return s
}

// expire deletes a Lease that was not renewed for as long as it says, and reports whether
// it is gone. The server refuses that if it was renewed after all: so its ranges are free
// only when its member cannot renew it any more.
func (m *member) expire(ctx context.Context, s *sighting, now time.Time) bool {
	if now.Sub(s.at) <= s.duration {
		return false
	}
	request, cancel := m.limited(ctx)
	defer cancel()
	err := m.leases.Delete(request, s.lease.Name, metav1.Preconditions{UID: &s.lease.UID, ResourceVersion: &s.lease.ResourceVersion})
	if err != nil {
		return apierrors.IsNotFound(err)
	}
	m.logger.Info("A member has not renewed its Lease, and is not one any more", "lost", s.identity)
	return true
}

// tell notes who the members are.
func (m *member) tell(others []*sighting) {
	members := make([]string, 0, len(others)+1)
	for _, s := range others {
		members = append(members, s.identity)
	}
	if m.lease != nil {
		members = append(members, m.identity)
	}
	slices.Sort(members)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.status.Members = members
}

// join makes a Lease.
func (m *member) join(ctx context.Context) error {
	for _, s := range m.others {
		switch {
		case s.lease.Name == m.leaseName() && s.changes > 1 && !s.leaving:
			return &IdentityError{Identity: m.identity}
		case s.options != m.options() && time.Since(s.at) <= s.duration:
			return &OptionsError{Own: m.options(), Theirs: s.options, Member: s.identity}
		}
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name: m.leaseName(), Labels: map[string]string{groupLabel: m.label}, Annotations: map[string]string{processAnnotation: m.process},
	}}
	lease.Spec.AcquireTime = ptr.To(metav1.NowMicro())
	request, cancel := m.limited(ctx)
	defer cancel()
	begin := time.Now()
	created, err := m.leases.Create(request, record{identity: m.identity, options: m.options(), duration: m.leaseDuration}.write(lease))
	if err != nil {
		if apierrors.IsAlreadyExists(err) {
			err = fmt.Errorf("the Lease of an earlier process of this identity has not expired yet: %w", err)
		}
		return fmt.Errorf("the Lease cannot be made: %w", err)
	}
	m.lease, m.sure, m.wants = created, true, ranges{}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.extend(begin)
	return nil
}

// lose gives up everything: the Lease is gone, so others may have it all.
func (m *member) lose() {
	m.logger.Info("The Lease of this member is gone, and all its ranges with it; it joins anew")
	m.gone[m.lease.UID] = struct{}{}
	m.lease, m.sure, m.wants = nil, false, ranges{}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.status.Lost++
	m.valid = time.Time{}
	m.active, m.held = ranges{}, ranges{}
	m.endCalls(everything, ErrLost)
	m.keep(m.held)
}
