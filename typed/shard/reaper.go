package shard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
)

// reapPeriod is the time from one deletion of a Lease to the next.
const reapPeriod = time.Second

// reaper deletes Leases of members that are dead, by its own requests, so that renewals do not
// wait for them. The server refuses to delete a Lease that was renewed after all, so its ranges
// are free only when its member cannot renew it any more.
type reaper struct {
	leases   leaseAPI
	timeout  time.Duration // of a request
	deleted  func()        // is called when a Lease was
	logger   klog.Logger
	found    chan []*sighting // has room for the latest Leases that are to be deleted
	dead     sets.Set[types.UID]
	progress time.Time // when one of them was gone, or the first was found

	mu  sync.Mutex
	err error // of the last request
}

// reap starts the reaper of a member, and returns what ends it.
func (m *member) reap(ctx context.Context) (end func()) {
	r := &m.reaper
	r.leases, r.timeout, r.deleted, r.logger = m.reaping, m.renewDeadline/4, m.poke, m.logger
	r.found = make(chan []*sighting, 1)
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { r.run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

// reapSome notes which members are dead, and has their Leases deleted if it is this
// member's turn. It is that of the first of those that live. Another one's is after so many
// rounds in which nothing was deleted as there are members before it.
func (m *member) reapSome(others []*sighting, now time.Time) {
	var dead []*sighting
	rank, seen := 0, sets.New[types.UID]()
	for _, s := range others {
		switch {
		case s.dead:
			dead = append(dead, s)
			seen.Insert(s.lease.UID)
		case s.lease.Name < m.leaseName():
			rank++
		}
	}
	r := &m.reaper
	if len(r.dead) == 0 || !seen.IsSuperset(r.dead) {
		r.progress = now
	}
	r.dead = seen
	if now.Sub(r.progress) < time.Duration(rank)*2*m.retryPeriod {
		dead = nil
	}
	slices.SortStableFunc(dead, func(a, b *sighting) int { return cmp.Compare(b.holds.count(), a.holds.count()) })
	select {
	case <-r.found:
	default:
	}
	r.found <- dead
}

// run deletes Leases until ctx ends.
func (r *reaper) run(ctx context.Context) {
	var dead []*sighting
	done := sets.New[types.UID]()
	next := time.NewTimer(0)
	defer next.Stop()
	<-next.C
	due := true // the time since the last deletion has passed
	for {
		select {
		case <-ctx.Done():
			return
		case found := <-r.found:
			dead, done = notDone(found, done)
		case <-next.C:
			due = true
		}
		if len(dead) == 0 || !due {
			continue
		}
		s := dead[0]
		dead = dead[1:]
		if r.delete(ctx, s) {
			done.Insert(s.lease.UID)
		}
		due = false
		next.Reset(reapPeriod)
	}
}

// notDone returns the sightings of Leases that are not done, and the Leases that are and that
// were found again: no other one is needed any more.
func notDone(found []*sighting, done sets.Set[types.UID]) (left []*sighting, again sets.Set[types.UID]) {
	again = sets.New[types.UID]()
	for _, s := range found {
		if done.Has(s.lease.UID) {
			again.Insert(s.lease.UID)
		} else {
			left = append(left, s)
		}
	}
	return left, again
}

// delete deletes a Lease in the state in which it was seen, and reports whether it is gone.
func (r *reaper) delete(ctx context.Context, s *sighting) bool {
	request, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	err := r.leases.Delete(request, s.lease.Name, metav1.Preconditions{UID: &s.lease.UID, ResourceVersion: &s.lease.ResourceVersion})
	gone := err == nil || apierrors.IsNotFound(err)
	r.mu.Lock()
	switch {
	case gone || apierrors.IsConflict(err): // it was renewed after all
		r.err = nil
	default:
		r.err = fmt.Errorf("the Lease of %s, which is dead, cannot be deleted: %w", s.identity, err)
	}
	r.mu.Unlock()
	if err == nil {
		r.logger.Info("Removed a member whose Lease expired", "lost", s.identity)
		r.deleted()
	}
	return gone
}

// lastError returns what the last request has failed with, nil if there is no Lease to
// delete any more.
func (r *reaper) lastError() error {
	if len(r.dead) == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}
