package shard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/monitor"
)

// Group is this process as a member of a group that shares objects. Its sources, see
// NewSource, have the objects of this member's ranges alone, and the functions that
// Reconcile returns are called for the keys of those.
//
// A Group is run like an informer, by Run or control.WithInformers, as the first of them.
// All methods are safe for concurrent use.
type Group struct {
	name     string // namespace and name
	label    string // the name, of which Leases have a label
	identity string
	hash     Hash

	leaseDuration, renewDeadline, retryPeriod, drainTimeout time.Duration

	leases     leaseAPI      // for the own Lease
	reaping    leaseAPI      // for those of members that are dead, with its own rate limit
	wake       chan struct{} // has room for one: there is something to do before the next renewal
	ready      chan struct{} // closed when the first ranges are there
	ended      chan struct{} // closed when Run has ended
	handedOver chan struct{} // closed when Leave need not wait any more
	joint      goroutine.Joint

	mu          sync.Mutex
	started     bool                   // guarded by mu, as is all below
	valid       time.Time              // until when this member may work, if renewals fail
	renewed     time.Time              // when the last renewal that succeeded began
	active      ranges                 // of which keys are handed out
	held        ranges                 // that the Lease holds as far as is known; has all of active
	coming      ranges                 // that this member is to have, and has not; their keys wait
	kept        ranges                 // that sources keep: those of held and coming, and those in which calls run
	since       [rangeCount]uint64     // which time of all a range has come, or was taken; for those in kept
	taken       uint64                 // how many times that were
	fading      ranges                 // of active, that are given up when no call for them runs
	fadingSince [rangeCount]time.Time  // for those in fading
	fences      [rangeCount]string     // the versions of the writes that took them
	calls       map[*call]struct{}     // that have not returned
	underWay    [rangeCount]int        // numbers of calls
	followers   map[*follower]struct{} // sources
	status      Status
	lapse       *time.Timer // ends calls when valid is over
	leavers     int         // who have called Leave, and have not ended
	announced   bool        // all of those: the Lease says that this member leaves
}

// New returns a member of the group of the given name, whose Leases are in a namespace.
// Every member makes a Lease, labelled shard.kubetyped.io/group, and needs the verbs get,
// list, create, update and delete for Leases there. It returns an error if the
// configuration or an option cannot be used.
func New(config *rest.Config, namespace, name string, opts ...Option) (*Group, error) {
	if config == nil {
		return nil, fmt.Errorf("shard group %s/%s: client configuration is nil", namespace, name)
	}
	leases, err := newRESTLeases(config, namespace)
	if err != nil {
		return nil, fmt.Errorf("shard group %s/%s: %w", namespace, name, err)
	}
	reaping, err := newRESTLeases(config, namespace)
	if err != nil {
		return nil, fmt.Errorf("shard group %s/%s: %w", namespace, name, err)
	}
	g, err := newGroup(leases, namespace, name, opts)
	if err != nil {
		return nil, err
	}
	g.reaping = reaping
	return g, nil
}

func newGroup(leases leaseAPI, namespace, name string, opts []Option) (*Group, error) {
	g := &Group{
		name: namespace + "/" + name, label: name, hash: UID(), leases: leases, reaping: leases, drainTimeout: 20 * time.Second,
		wake: make(chan struct{}, 1), ready: make(chan struct{}), ended: make(chan struct{}), handedOver: make(chan struct{}),
		calls: map[*call]struct{}{}, followers: map[*follower]struct{}{},
	}
	if err := g.setUp(namespace, name, opts); err != nil {
		return nil, fmt.Errorf("shard group %s: %w", g.name, err)
	}
	return g, nil
}

func (g *Group) setUp(namespace, name string, opts []Option) error {
	if namespace == "" {
		return errors.New("namespace is empty: Leases need one")
	}
	if problems := append(validation.IsDNS1123Subdomain(name), validation.IsValidLabelValue(name)...); len(problems) > 0 {
		return fmt.Errorf("the name is to be a label of Leases, and part of their names: %s", strings.Join(problems, ", "))
	}
	if err := argument.ApplyOptions(g, append([]Option{WithLeaseDuration(15 * time.Second)}, opts...)); err != nil {
		return err
	}
	if g.identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return err
		}
		if err := WithIdentity(strings.ToLower(host) + "-" + rand.String(8))(g); err != nil {
			return err
		}
	}
	if problems := validation.IsDNS1123Subdomain(g.leaseName()); len(problems) > 0 {
		return fmt.Errorf("the Lease %q: %s", g.leaseName(), strings.Join(problems, ", "))
	}
	return nil
}

// leaseName returns the name of this member's Lease. If a group's name has a dot, it is not
// clear where it ends, so the name of the Lease ends with a part of a hash.
func (g *Group) leaseName() string {
	name := g.label + "." + g.identity
	if !strings.Contains(g.label, ".") {
		return name
	}
	return fmt.Sprintf("%s.%08x", name, uint32(sum(g.label+"/"+g.identity)))
}

// options is what all members must have the same.
func (g *Group) options() string { return fmt.Sprintf("%d ranges by %s", rangeCount, g.hash) }

// Name returns what the group is called in errors.
func (g *Group) Name() string { return "shard group " + g.name }

// Identity returns the name of this member.
func (g *Group) Identity() string { return g.identity }

// WaitForSync waits until this member has ranges. If ctx or Run ends before, it returns
// an error that says why this member has none.
func (g *Group) WaitForSync(ctx context.Context) error {
	select {
	case <-g.ready:
		return nil
	case <-g.ended:
		return fmt.Errorf("%s: stopped: %w", g.Name(), g.waiting())
	case <-ctx.Done():
		return fmt.Errorf("%s: %w: %w", g.Name(), g.waiting(), ctx.Err())
	}
}

// waiting returns what a member without ranges waits for.
func (g *Group) waiting() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.status.Err != nil:
		return g.status.Err
	case !g.started:
		return errors.New("group is not running")
	case g.status.Waiting != nil:
		return g.status.Waiting
	}
	return errors.New("waiting for other members to hand over hash ranges")
}

// Owns reports whether this member may work on a key of a group by Key or Namespace at this
// moment: whether it holds the key's range, and has renewed its Lease in time. Groups whose
// hash does not follow from a key own no key: see [Source.Owns].
//
// It is a check to be made right before a write. It cannot promise that the range is still
// this member's when the write arrives: the process may be stopped in between, or the
// network may hold the write back. Writes that must not happen then need a condition that
// the server checks, such as the resource version of the object.
func (g *Group) Owns(key index.Key) bool {
	r, ok := g.rangeOfKey(key)
	return ok && g.owns(r)
}

func (g *Group) owns(r uint8) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.active.has(r) && g.isValid(time.Now())
}

// Generation returns the resource version at which this member took the range of a key,
// "" if it does not own it. It is higher, by resourceversion.CompareResourceVersion, than
// that of every member which had the range before. So a store which keeps the highest
// that it has seen, and refuses what is lower, is safe from members that were stopped.
func (g *Group) Generation(key index.Key) string {
	r, ok := g.rangeOfKey(key)
	if !ok {
		return ""
	}
	return g.generation(r)
}

func (g *Group) generation(r uint8) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.active.has(r) || !g.isValid(time.Now()) {
		return ""
	}
	return g.fences[r]
}

// isValid reports whether this member has renewed its Lease in time, by both clocks: the wall
// clock continues while the computer sleeps, the monotonic clock cannot be set. The caller
// holds mu.
func (g *Group) isValid(now time.Time) bool {
	return now.Before(g.valid) && now.Round(0).Sub(g.renewed.Round(0)) < g.renewDeadline
}

func (g *Group) rangeOfKey(key index.Key) (uint8, bool) {
	if g.hash.ofKey == nil {
		return 0, false
	}
	return g.rangeOf(g.hash.ofKey(key)), true
}

// rangeOf returns the range of a value: that of the server's hash, if servers can hash by
// what this group does.
func (g *Group) rangeOf(value string) uint8 {
	if g.hash.field != "" {
		return rangeOf(value)
	}
	return mixedRangeOf(value)
}

// poke wakes the member, because there is something to do before the next renewal.
func (g *Group) poke() { monitor.Wake(g.wake) }
