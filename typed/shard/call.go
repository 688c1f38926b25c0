package shard

import (
	"context"
	"errors"
	"time"

	"github.com/kubetyped/informer/internal/monitor"
)

// ErrLost is the cause, see [context.Cause], for which contexts of reconcile functions end
// when this member could not renew its Lease in time: others may take over.
var ErrLost = errors.New("the member could not renew its Lease in time")

// ErrMoved is the cause for which they end when their range is to move to another member,
// and the drain timeout has passed.
var ErrMoved = errors.New("the range is to move to another member")

// verdict is what becomes of a key.
type verdict int

const (
	run   verdict = iota // it is handed out
	later                // not now: this member has its range, but may not work, or has not all objects yet
	soon                 // not now: this member is about to have its range
	never                // it is another member's
)

// call is a call of a reconcile function.
type call struct {
	of  uint8 // its range
	end context.CancelCauseFunc
}

// begin begins a call for a key of range r, if the verdict is run. The context ends when
// the member may not work on it any more; done ends the call.
func (g *Group) begin(ctx context.Context, r uint8) (calling context.Context, done func(), v verdict) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.coming.has(r):
		return nil, nil, soon
	case !g.active.has(r):
		return nil, nil, never
	case !g.isValid(time.Now()) || !g.hasAll(r):
		return nil, nil, later
	}
	calling, cancel := context.WithCancelCause(ctx)
	c := &call{r, cancel}
	g.calls[c] = struct{}{}
	if len(g.calls) == 1 {
		g.lapse.Reset(g.untilLapse(time.Now()))
	}
	g.underWay[r]++
	return calling, func() { g.done(c) }, run
}

// hasAll reports whether all sources have the objects of a range. The caller holds mu.
func (g *Group) hasAll(r uint8) bool {
	for f := range g.followers {
		if f.has[r] != g.since[r] {
			return false
		}
	}
	return true
}

// done ends a call.
func (g *Group) done(c *call) {
	c.end(nil)
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.calls, c)
	g.underWay[c.of]--
	if g.underWay[c.of] == 0 && g.fading.has(c.of) {
		g.stop(ranges{}.with(c.of))
	}
	if g.underWay[c.of] > 0 || g.active.has(c.of) {
		return
	}
	if !g.held.has(c.of) {
		g.keep(g.held)
	}
	g.poke()
}

// endCalls ends the contexts of calls for some ranges. The caller holds mu.
func (g *Group) endCalls(of ranges, cause error) {
	for c := range g.calls {
		if of.has(c.of) {
			c.end(cause)
		}
	}
}

// lapsed ends calls if the Lease was not renewed in time.
func (g *Group) lapsed() {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if g.isValid(now) {
		g.lapse.Reset(g.untilLapse(now))
		return
	}
	if !g.valid.IsZero() { // which it is if the Lease was lost
		g.status.Lapsed++
	}
	g.endCalls(everything, ErrLost)
}

// untilLapse returns after which time it is to be looked whether calls have to end. A timer
// stands still with a machine that is suspended, so it is often. The caller holds mu.
func (g *Group) untilLapse(now time.Time) time.Duration {
	left := g.valid.Sub(now)
	if len(g.calls) > 0 {
		left = min(left, g.leaseDuration/30)
	}
	return left
}

// busy returns the ranges in which calls run. The caller holds mu.
func (g *Group) busy() (busy ranges) {
	for r, n := range g.underWay {
		if n > 0 {
			busy.add(uint8(r))
		}
	}
	return busy
}

// stop has no more keys of ranges handed out, for good: they are given up when the calls
// have returned, even if they could stay by then, since keys were dropped meanwhile. The
// caller holds mu.
func (g *Group) stop(these ranges) {
	these = these.and(g.active)
	if these.empty() {
		return
	}
	calls := map[time.Duration][]*call{}
	for c := range g.calls {
		if these.has(c.of) {
			end := g.endOf(c.of)
			calls[end] = append(calls[end], c)
		}
	}
	g.active, g.fading = g.active.minus(these), g.fading.minus(these)
	for end, of := range calls {
		time.AfterFunc(end, func() {
			for _, c := range of {
				c.end(ErrMoved)
			}
		})
	}
}

// keep sets which ranges sources keep: those that are held, or about to come, and those in
// which calls run, which would mistake removed objects for deleted ones. The caller holds mu.
func (g *Group) keep(held ranges) {
	kept := held.or(g.coming).or(g.kept.and(g.busy()))
	if kept == g.kept {
		return
	}
	g.kept = kept
	for f := range g.followers {
		f.poke()
	}
}

// follower is a source that follows which ranges are kept.
type follower struct {
	group   *Group
	changed chan struct{}      // has room for one
	has     [rangeCount]uint64 // guarded by the group's mu; Group.since of the ranges whose objects it has
}

func (f *follower) poke() { monitor.Wake(f.changed) }

// follow returns a follower that every change wakes until leave is called.
func (g *Group) follow() (f *follower, leave func()) {
	f = &follower{group: g, changed: make(chan struct{}, 1)}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.followers[f] = struct{}{}
	return f, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.followers, f)
	}
}

// share returns which ranges are to be kept, and since when.
func (f *follower) share() (kept ranges, since [rangeCount]uint64) {
	f.group.mu.Lock()
	defer f.group.mu.Unlock()
	return f.group.kept, f.group.since
}

// loaded notes that the source has the objects of some ranges.
func (f *follower) loaded(these ranges, since [rangeCount]uint64) {
	f.group.mu.Lock()
	defer f.group.mu.Unlock()
	ready := false
	for r := range these.all() {
		f.has[r] = since[r]
		ready = ready || f.group.coming.has(r) && f.group.hasAll(r)
	}
	if ready {
		f.group.poke() // the Lease is to say so
	}
}
