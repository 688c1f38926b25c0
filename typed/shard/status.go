package shard

import "time"

// Status is a report on a member at one moment.
type Status struct {
	// Identity is the name of this member.
	Identity string
	// Members are the identities of all members that have a Lease, sorted.
	Members []string
	// Ranges is how many of the 256 ranges this member works on, Wanted how many it is about to
	// take, or is to have when it has listed them, and Leaving how many it has stopped to work
	// on, but not given up, as calls are in progress.
	Ranges, Wanted, Leaving int
	// Calls is how many calls of reconcile functions are in progress.
	Calls int
	// Valid says whether this member may work: it has renewed its Lease in time.
	Valid bool
	// Renewed is when the last renewal that succeeded began.
	Renewed time.Time
	// Lost is how often other members have taken all that this one had, since it could not
	// renew its Lease.
	Lost int
	// Lapsed is how often this member had to stop, since it had not renewed its Lease in time:
	// its machine stood still, or the API server did not answer.
	Lapsed int
	// Edited is how often this member's Lease was changed by others, and Overlaps how often
	// another member has begun to hold a range of this one. Members do neither.
	Edited, Overlaps int
	// Waiting is why this member has fewer ranges than are its share, nil if it has them:
	// members that are dead, or have other options, or have not handed over yet.
	Waiting error
	// Err is what the last round of requests has failed with, nil if nothing. It is an
	// *OptionsError if there is a member with other options, and a *ForbiddenError if rights
	// are missing.
	Err error
}

// Status returns a report on this member.
func (g *Group) Status() Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.status
	s.Identity, s.Renewed, s.Calls = g.identity, g.renewed, len(g.calls)
	s.Ranges, s.Leaving = g.active.count(), g.held.or(g.busy()).minus(g.active).count()
	s.Valid = g.isValid(time.Now())
	return s
}
