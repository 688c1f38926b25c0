package shard

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Option sets up a Group.
type Option func(*Group) error

// WithIdentity sets the name of this member; its Lease is called by the group and it. No
// other member may have the same. Otherwise it is the host's name and a random number. A
// process that was killed and is back with the same identity waits until its old Lease has
// expired, as all others do.
func WithIdentity(identity string) Option {
	return func(g *Group) error {
		if problems := validation.IsDNS1123Subdomain(identity); len(problems) > 0 {
			return fmt.Errorf("the identity %q is to be part of the name of a Lease: %s", identity, strings.Join(problems, ", "))
		}
		g.identity = identity
		return nil
	}
}

// WithHash sets the hash that decides which range an object is in; UID otherwise. All
// members must have the same, and a newcomer with another one is refused.
func WithHash(h Hash) Option {
	return func(g *Group) error {
		if h.value == nil {
			return errors.New("the hash is not one of this package's functions")
		}
		g.hash = h
		return nil
	}
}

// WithLeaseDuration sets how long a member that has died keeps its ranges: from its last
// renewal until others may take them. It renews every 2/15 of that time, and stops to work
// when it has not succeeded for 2/3 of it. Otherwise it is 15 seconds, as for the leader
// elections of Kubernetes' own components. It is whole seconds, three at least.
func WithLeaseDuration(d time.Duration) Option {
	return func(g *Group) error {
		if d < 3*time.Second || d%time.Second != 0 {
			return fmt.Errorf("the lease duration %v is not a number of whole seconds from 3 on", d)
		}
		g.leaseDuration, g.renewDeadline, g.retryPeriod = d, d*2/3, d*2/15
		return nil
	}
}

// WithDrainTimeout sets how long calls of reconcile functions may continue when their range is
// to move to another member, or this one leaves. Then their contexts end. The range moves
// when they have returned, and never before. Otherwise it is 20 seconds.
func WithDrainTimeout(d time.Duration) Option {
	return func(g *Group) error {
		if d < 0 {
			return fmt.Errorf("the drain timeout %v is negative", d)
		}
		g.drainTimeout = d
		return nil
	}
}
