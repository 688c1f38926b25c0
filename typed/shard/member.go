package shard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/klog/v2"
)

// processAnnotation distinguishes processes with one identity.
const processAnnotation = "shard.kubetyped.io/process"

// member is one call of Group.Run. All of it is owned by that call's goroutine, which
// alone makes requests.
type member struct {
	*Group
	process string                  // one of a kind
	lease   *coordinationv1.Lease   // of this member, as it was written or read last; nil: there is none
	sure    bool                    // lease was written, and no request since then may yet take effect
	wants   ranges                  // that lease has, if it is sure
	joined  bool                    // it has had a Lease
	leaving bool                    // ranges are given up
	overlap ranges                  // of this member, that others hold as well
	refused error                   // why it leaves, nil if since ctx has ended
	others  map[types.UID]*sighting // Leases of other members
	looked  time.Time               // when a list of all Leases succeeded last
	hidden  *sighting               // the Lease of this name, if no list of the group has it
	gone    sets.Set[types.UID]     // Leases that this member had
	reaper  reaper
	logger  klog.Logger
}

// Run joins the group and takes part in it until ctx ends. Then it hands out no more keys,
// waits until calls of reconcile functions have returned, whose contexts end when the drain
// timeout has passed, deletes its Lease, and returns nil. It is called once.
//
// Requests that fail are logged, retried, and reported by Status. Run returns an error if
// this member cannot join: a *ForbiddenError or *IdentityError, or an *OptionsError, even
// if it has joined at the same time as a member with other options.
//
// Within three lease durations after the last fault, each range has an owner that is alive,
// or Status of every member says why not, in Err and Waiting. Leases of dead members are
// deleted by one member at a time, one a second, those with ranges first.
func (g *Group) Run(ctx context.Context) error {
	g.mu.Lock()
	again := g.started
	g.started = true
	g.mu.Unlock()
	if again {
		return fmt.Errorf("%s: it is run a second time", g.Name())
	}
	m := &member{
		Group: g, process: string(uuid.NewUUID()), others: map[types.UID]*sighting{}, gone: sets.New[types.UID](),
		logger: klog.FromContext(ctx).WithValues("group", g.name, "member", g.identity),
	}
	defer m.end()
	defer m.reap(context.WithoutCancel(ctx))()
	if err := m.takePart(ctx); err != nil {
		return fmt.Errorf("%s: %w", g.Name(), err)
	}
	return nil
}

// RunJointly calls run, which is Run or something that calls it, once for all calls
// of RunJointly at the same time, such as two controllers that need the group. See
// typed.Informer.RunJointly.
func (g *Group) RunJointly(ctx context.Context, run func(ctx context.Context) error) error {
	defer g.forgetLeaver()
	return g.joint.Run(ctx, g.Name(), run)
}

// takePart makes one round after the other.
func (m *member) takePart(ctx context.Context) error {
	lasting := context.WithoutCancel(ctx)
	for {
		if (ctx.Err() != nil || m.refused != nil) && m.leave(lasting) {
			return m.refused
		}
		begin := time.Now()
		again, err := m.round(lasting)
		m.note(err)
		if m.lease == nil && m.isFinal(err) {
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
	ended := ctx.Done()
	if m.leaving {
		ended = nil
	}
	select {
	case <-next.C:
	case <-ended:
	case <-m.wake: // gather what else ends soon
		time.Sleep(m.retryPeriod / 10)
	}
}

// isFinal reports whether an error of a member without a Lease is one that Run returns. A
// right that was taken away from a member may be given back.
func (m *member) isFinal(err error) bool {
	var options *OptionsError
	var identity *IdentityError
	var forbidden *ForbiddenError
	return errors.As(err, &options) || errors.As(err, &identity) || errors.As(err, &forbidden) && !m.joined
}

// note remembers the error of a round, nil if it has succeeded. It logs the first one after a
// success as an error, and others at level 2.
func (m *member) note(err error) {
	m.mu.Lock()
	before := m.status.Err
	m.status.Err = err
	m.mu.Unlock()
	switch {
	case err == nil:
	case before == nil:
		m.logger.Error(err, "A member cannot renew its Lease, or waits to join")
	default:
		m.logger.V(2).Info("A round of requests has failed", "err", err)
	}
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
	case lookErr != nil && (m.lease == nil || !m.sure):
		return false, m.explain(lookErr) // what would be written is not known
	case lookErr != nil:
		_, err := m.renew(ctx, m.same())
		return false, errors.Join(m.explain(lookErr), m.explain(err))
	case m.lease == nil && m.leaving: // only calls are waited for
		return false, nil
	case m.lease == nil:
		if err := m.join(ctx); err != nil {
			return false, m.explain(err)
		}
		return true, nil
	}
	again, err = m.renew(ctx, m.plan(looked))
	return again, errors.Join(m.explain(err), m.explain(m.reaper.lastError()), m.conflict(looked))
}

// explain says which rights are missing, if that is why a request has failed.
func (m *member) explain(err error) error {
	if apierrors.IsForbidden(err) {
		namespace, _, _ := strings.Cut(m.name, "/")
		return &ForbiddenError{Namespace: namespace, Err: err}
	}
	return err
}

// showMembers sets Status.Members to the identities of the members, in order.
func (m *member) showMembers(others []*sighting) {
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

// lose gives up everything: the Lease is gone, so others may have it all.
func (m *member) lose() {
	m.logger.Info("The Lease of this member is gone with all its ranges, joining again")
	m.gone.Insert(m.lease.UID)
	m.lease, m.sure, m.wants = nil, false, ranges{}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.status.Lost++
	m.valid = time.Time{}
	m.active, m.held, m.coming, m.fading = ranges{}, ranges{}, ranges{}, ranges{}
	m.endCalls(everything, ErrLost)
	m.keep(m.held)
}
