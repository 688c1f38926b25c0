package shard

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

var leaseResource = coordinationv1.Resource("leases")

// leaseStore is an API server's Leases: each request takes effect at one moment.
type leaseStore struct {
	mu       sync.Mutex
	leases   map[string]*coordinationv1.Lease
	version  int
	requests map[string]int
}

func newLeaseStore() *leaseStore {
	return &leaseStore{leases: map[string]*coordinationv1.Lease{}, requests: map[string]int{}}
}

func (s *leaseStore) stored(l *coordinationv1.Lease) *coordinationv1.Lease {
	s.version++
	l = l.DeepCopy()
	l.ResourceVersion = strconv.Itoa(s.version)
	s.leases[l.Name] = l
	return l.DeepCopy()
}

func (s *leaseStore) do(verb string, f func() (*coordinationv1.Lease, error)) (*coordinationv1.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[verb]++
	return f()
}

// leaseClient is what a member sees of the Leases, over a network that a simulation can
// break, and from a process that it can stop.
type leaseClient struct {
	*leaseStore

	mu      sync.Mutex
	random  *rand.Rand    // guarded by mu, as is the rest
	slow    time.Duration // at most, each way
	lossy   int           // percent of requests whose answer is lost, or that take effect late
	cut     bool
	dead    bool
	paused  time.Time              // until when the process stands still
	seconds int32                  // how long Leases seem to be good for, 0 for their own duration
	stale   []coordinationv1.Lease // the Leases that lists return, nil for the present ones
	deny    error
}

var errCut = errors.New("the network is cut")

// gate waits while the process stands still. It reports whether it is dead.
func (c *leaseClient) gate() (dead bool) {
	for {
		c.mu.Lock()
		until, dead := c.paused, c.dead
		c.mu.Unlock()
		if dead || !time.Now().Before(until) {
			return dead
		}
		time.Sleep(time.Until(until))
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// call makes a request, which takes its time, and may be lost, or its answer.
func (c *leaseClient) call(ctx context.Context, verb string, f func() (*coordinationv1.Lease, error)) (*coordinationv1.Lease, error) {
	if c.gate() {
		return nil, errCut
	}
	c.mu.Lock()
	fate, there, back, cut, deny := 100, time.Duration(0), time.Duration(0), c.cut, c.deny
	if c.random != nil {
		fate, there, back = c.random.IntN(100), time.Duration(c.random.Int64N(int64(c.slow)+1)), time.Duration(c.random.Int64N(int64(c.slow)+1))
	}
	lossy := c.lossy
	c.mu.Unlock()
	switch {
	case deny != nil:
		return nil, deny
	case cut:
		<-ctx.Done()
		return nil, ctx.Err()
	case fate < lossy/2: // it takes effect, some time or other
		go func() {
			time.Sleep(there * 20)
			_, _ = c.do(verb, f)
		}()
		_ = sleep(ctx, back*4)
		return nil, errCut
	}
	if err := sleep(ctx, there); err != nil {
		return nil, err
	}
	result, err := c.do(verb, f)
	if e := sleep(ctx, back); e != nil {
		return nil, e
	}
	if fate < lossy {
		return nil, errCut
	}
	if c.gate() {
		return nil, errCut
	}
	return result, err
}

func (c *leaseClient) Create(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	return c.call(ctx, "create", func() (*coordinationv1.Lease, error) {
		if c.leases[l.Name] != nil {
			return nil, apierrors.NewAlreadyExists(leaseResource, l.Name)
		}
		l := l.DeepCopy()
		l.UID = types.UID("uid-" + strconv.Itoa(c.version))
		return c.stored(l), nil
	})
}

func (c *leaseClient) Get(ctx context.Context, name string) (*coordinationv1.Lease, error) {
	return c.call(ctx, "get", func() (*coordinationv1.Lease, error) {
		if l := c.leases[name]; l != nil {
			return l.DeepCopy(), nil
		}
		return nil, apierrors.NewNotFound(leaseResource, name)
	})
}

func (c *leaseClient) Update(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	return c.call(ctx, "update", func() (*coordinationv1.Lease, error) {
		was := c.leases[l.Name]
		switch {
		case was == nil:
			return nil, apierrors.NewNotFound(leaseResource, l.Name)
		case was.UID != l.UID || was.ResourceVersion != l.ResourceVersion:
			return nil, apierrors.NewConflict(leaseResource, l.Name, errors.New("it was modified"))
		}
		return c.stored(l), nil
	})
}

func (c *leaseClient) Delete(ctx context.Context, name string, p metav1.Preconditions) error {
	_, err := c.call(ctx, "delete", func() (*coordinationv1.Lease, error) {
		was := c.leases[name]
		switch {
		case was == nil:
			return nil, apierrors.NewNotFound(leaseResource, name)
		case p.UID != nil && *p.UID != was.UID, p.ResourceVersion != nil && *p.ResourceVersion != was.ResourceVersion:
			return nil, apierrors.NewConflict(leaseResource, name, errors.New("the precondition does not hold"))
		}
		c.version++
		delete(c.leases, name)
		return nil, nil
	})
	return err
}

func (c *leaseClient) List(ctx context.Context, _ string) (*coordinationv1.LeaseList, error) {
	list := &coordinationv1.LeaseList{}
	c.mu.Lock()
	stale, seconds := c.stale, c.seconds
	c.mu.Unlock()
	_, err := c.call(ctx, "list", func() (*coordinationv1.Lease, error) {
		for _, l := range c.leases {
			list.Items = append(list.Items, *l.DeepCopy())
		}
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	if stale != nil {
		list.Items = stale
	}
	list.Items = slices.DeleteFunc(list.Items, func(l coordinationv1.Lease) bool { return l.Labels[groupLabel] == "" })
	for i := range list.Items {
		if spec := &list.Items[i].Spec; seconds != 0 && ptr.Deref(spec.LeaseDurationSeconds, 0) > seconds {
			spec.LeaseDurationSeconds = &seconds
		}
	}
	return list, nil
}

// now returns all Leases.
func (s *leaseStore) now() []coordinationv1.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []coordinationv1.Lease{}
	for _, l := range s.leases {
		all = append(all, *l.DeepCopy())
	}
	return all
}
