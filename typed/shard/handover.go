package shard

import (
	"context"
	"time"

	"github.com/kubetyped/informer/internal/monitor"
)

// A range that moves is worked on by its owner until the next one has listed it:
//
//  1. The next owner prepares it: its sources list and watch the range, keys of which wait.
//     Its Lease says which ranges it prepares, and which of them are listed.
//  2. The owner, which computes the same assignment, works until it reads that. Then it
//     waits for a moment without calls for the range, and gives it up.
//  3. The next owner takes it as it takes any other, see plan. That alone decides who owns
//     it; all before is about when its owner gives it up.

// prepare makes sources list ranges that are about to come. The caller holds mu.
func (m *member) prepare(coming ranges) {
	for r := range coming.minus(m.coming).all() {
		m.taken++
		m.since[r] = m.taken
	}
	m.coming = coming
	m.keep(m.held)
}

// listed returns which of the ranges that are about to come all sources have. The caller
// holds mu.
func (g *Group) listed() (listed ranges) {
	for r := range g.coming.all() {
		if g.hasAll(r) {
			listed.add(r)
		}
	}
	return listed
}

// unready returns which ranges others are to have, but have not listed. A member of an
// earlier version does not say so, and is not waited for.
func unready(others []*sighting, assigned map[string]ranges) (waiting ranges) {
	for _, s := range others {
		if s.prepared {
			waiting = waiting.or(assigned[s.lease.Name].minus(s.listed))
		}
	}
	return waiting
}

// fade gives up these ranges, and no others, as soon as no call for them runs.
// Their keys are handed out until then, for three quarters of the drain timeout: one call that
// takes long does not keep all others waiting. The caller holds mu.
func (g *Group) fade(these ranges) {
	now := time.Now()
	var over ranges
	for r := range these.all() {
		if !g.fading.has(r) {
			g.fadingSince[r] = now
		}
		if g.underWay[r] == 0 || now.Sub(g.fadingSince[r]) >= g.drainTimeout*3/4 {
			over.add(r)
		}
	}
	g.fading = these
	g.stop(over)
}

// endOf returns after which time the contexts of calls for a range end, which is given up.
// The caller holds mu.
func (g *Group) endOf(r uint8) time.Duration {
	if !g.fading.has(r) {
		return g.drainTimeout
	}
	return g.drainTimeout - time.Since(g.fadingSince[r])
}

// Leave announces that this member is about to leave, and waits until the other members have
// taken its ranges, or ctx or Run ends. From then on it takes no range, and works on each range
// that it has until another member has listed it. It returns at once if there is no other
// member, or if the Group is run for several who call RunJointly, until all of these have
// called Leave. If one of them ends without a call of Leave after another has called it, the last
// call may return at once, too, and the ranges are given up when Run ends.
//
// control.Run calls it before it drains the queues. Without it, Run gives up all ranges at once
// when it ends.
func (g *Group) Leave(ctx context.Context) {
	g.mu.Lock()
	g.leavers++
	if g.leavers < g.joint.Users() || !g.started {
		g.mu.Unlock()
		return
	}
	g.announced = true
	g.mu.Unlock()
	g.poke()
	select {
	case <-g.handedOver:
	case <-g.ended:
	case <-ctx.Done():
	}
}

// forgetLeaver notes that one of several who call RunJointly has ended, who has called Leave before.
func (g *Group) forgetLeaver() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leavers = max(0, g.leavers-1)
}

// noteHandedOver ends Leave if the member has nothing any more, or there is no other member.
// The caller holds mu.
func (g *Group) noteHandedOver(alone bool) {
	over := g.announced && (alone || g.held.or(g.busy()).empty())
	if over && !monitor.IsClosed(g.handedOver) {
		close(g.handedOver)
	}
}
