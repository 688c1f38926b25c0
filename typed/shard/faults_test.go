package shard

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
)

// party contains the members of one shard group, each with its own client.
type party struct {
	t       *testing.T
	store   *leaseStore
	members []*simulated
	running sync.WaitGroup
	mu      sync.Mutex
	ends    map[string]error // by identity, what Run has returned
}

func newParty(t *testing.T) *party {
	p := &party{t: t, store: newLeaseStore(), ends: map[string]error{}}
	t.Cleanup(func() {
		for _, m := range p.members {
			m.stop()
		}
		p.running.Wait()
	})
	return p
}

func (p *party) join(identity string, opts ...Option) *simulated {
	m := p.member(identity, opts...)
	p.start(m)
	return m
}

// member makes a member that has not started.
func (p *party) member(identity string, opts ...Option) *simulated {
	c := &leaseClient{leaseStore: p.store}
	g, err := newGroup(c, "ns", "group", append([]Option{WithIdentity(identity)}, opts...))
	require.NoError(p.t, err)
	return &simulated{Group: g, client: c, stop: func() {}}
}

func (p *party) start(m *simulated) {
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	p.members = append(p.members, m)
	p.running.Go(func() {
		err := m.Run(ctx)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ends[m.identity] = err
	})
}

// ended returns what Run of a member has returned, if it has.
func (p *party) ended(identity string) (err error, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err, ended = p.ends[identity]
	return err, ended
}

// owned returns how many ranges members work on, none of which two do.
func (p *party) owned() int {
	var all ranges
	n := 0
	for _, m := range p.members {
		m.mu.Lock()
		if active := m.active; m.isValid(time.Now()) && !m.isDead() {
			assert.True(p.t, all.and(active).empty(), "two members work on a range")
			all = all.or(active)
			n += active.count()
		}
		m.mu.Unlock()
	}
	return n
}

// byUID are the options of most members here.
const byUID = "256 ranges by UID"

// abandon writes the Lease of a member that is not there.
func (p *party) abandon(r record) {
	p.store.mu.Lock()
	defer p.store.mu.Unlock()
	r.duration = 15 * time.Second
	lease := r.write(&coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "group." + r.identity, UID: types.UID(r.identity), Labels: map[string]string{groupLabel: "group"}},
	})
	p.store.stored(lease)
}

// edit changes a Lease by hand.
func (p *party) edit(identity string, change func(*coordinationv1.Lease)) {
	p.store.mu.Lock()
	defer p.store.mu.Unlock()
	if lease := p.store.leases["group."+identity].DeepCopy(); lease != nil {
		change(lease)
		p.store.stored(lease)
	}
}

// TestOptionsAtOnce: of members with different options that start together, those with one of
// the options stay, and have all ranges soon; the others end with an error that names both.
func TestOptionsAtOnce(t *testing.T) {
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			p, random := newParty(t), rand.New(rand.NewPCG(seed, 7))
			hashes := []Hash{UID(), Key()}
			for i := range 2 + random.IntN(5) {
				p.join(fmt.Sprint("m", i), WithHash(hashes[(i+random.IntN(2))%2])).set(func(c *leaseClient) {
					c.slow, c.random = 500*time.Millisecond, rand.New(rand.NewPCG(seed, uint64(i)))
				})
				time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond)
			}
			for range 450 { // three lease durations
				time.Sleep(100 * time.Millisecond)
				p.owned()
			}
			stay := map[string]bool{}
			for _, m := range p.members {
				err, ended := p.ended(m.identity)
				var options *OptionsError
				switch {
				case !ended:
					stay[m.options()] = true
				case assert.ErrorAs(t, err, &options, m.identity):
					assert.Equal(t, m.options(), options.Own)
					assert.NotEqual(t, options.Own, options.Theirs)
				}
			}
			assert.Len(t, stay, 1, "seed %d", seed)
			assert.Equal(t, rangeCount, p.owned(), "seed %d", seed)
		})
	}
}

// TestOptionsOfDeadMembers: a Lease without renewals keeps no newcomer out for longer than its
// duration, whatever its options.
func TestOptionsOfDeadMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.abandon(record{identity: "old", options: "256 ranges by moon phase", holds: everything})
		m := p.join("new")
		time.Sleep(5 * time.Second)
		assert.ErrorContains(t, m.Status().Err, "waiting to see whether member old is alive, which has 256 ranges by moon phase")
		time.Sleep(20 * time.Second)
		assert.Equal(t, rangeCount, p.owned())
	})
}

// TestOptionsEditedByHand: an edit of the options in a member's Lease ends no member.
func TestOptionsEditedByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.join("a")
		p.join("b")
		time.Sleep(20 * time.Second)
		p.edit("a", func(l *coordinationv1.Lease) { l.Annotations[optionsAnnotation] = "x" })
		time.Sleep(20 * time.Second)
		assert.Equal(t, rangeCount, p.owned())
		assert.Empty(t, p.ends)
	})
}

// TestRightsTakenAway: rights that a member loses while it works are an error of Status, with
// the Role, and do not end it: they may be given back.
func TestRightsTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		m := p.join("a")
		time.Sleep(20 * time.Second)
		m.set(func(c *leaseClient) { c.deny = apierrors.NewForbidden(leaseResource, "", errors.New("no")) })
		time.Sleep(time.Minute)
		var forbidden *ForbiddenError
		assert.ErrorAs(t, m.Status().Err, &forbidden)
		assert.Zero(t, p.owned())
		m.set(func(c *leaseClient) { c.deny = nil })
		time.Sleep(10 * time.Second)
		assert.Equal(t, rangeCount, p.owned())
		assert.NoError(t, m.Status().Err)
	})
}

// withoutDelete takes the right to delete others' Leases from a member.
func withoutDelete(store *leaseStore) Option {
	return func(g *Group) error {
		g.reaping = &leaseClient{leaseStore: store, deny: apierrors.NewForbidden(leaseResource, "", errors.New("no delete"))}
		return nil
	}
}

// TestNoRightToDelete: without it the ranges of dead members stay with them, and members say
// why.
func TestNoRightToDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.abandon(record{identity: "gone", options: byUID, holds: ranges{0xff}})
		m := p.join("a", withoutDelete(p.store))
		time.Sleep(time.Minute)
		var forbidden *ForbiddenError
		assert.ErrorAs(t, m.Status().Err, &forbidden)
		assert.ErrorContains(t, m.Status().Err, "the Lease of gone, which is dead, cannot be deleted")
		assert.EqualError(t, m.Status().Waiting, "8 ranges wait until Leases are deleted of members that are dead: gone")
		assert.Equal(t, rangeCount-8, p.owned())
	})
}

// TestManyDeadMembers: their Leases are deleted by one member, one a second, those with ranges
// first, and no renewal waits for that.
func TestManyDeadMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		for i := range 3 {
			p.join(fmt.Sprint("live", i))
		}
		time.Sleep(20 * time.Second)
		for i := range 100 {
			p.abandon(record{identity: fmt.Sprint("dead", i), options: byUID, leaving: true})
		}
		before := p.store.count("delete")
		for i := range 60 {
			time.Sleep(time.Second)
			assert.Equal(t, rangeCount, p.owned())
			assert.LessOrEqual(t, p.store.count("delete")-before, max(0, i-13))
		}
		assert.Greater(t, p.store.count("delete")-before, 40)
		p.store.mu.Lock()
		assert.Len(t, p.store.leases, 103-(p.store.requests["delete"]-before), "none was deleted by two")
		p.store.mu.Unlock()
	})
}

func (s *leaseStore) count(verb string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[verb]
}

// TestDeadMembersWithRangesFirst: their ranges are what others wait for.
func TestDeadMembersWithRangesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		for i := range 100 {
			holds := ranges{}
			if i == 99 {
				holds = everything
			}
			p.abandon(record{identity: fmt.Sprintf("dead%02d", i), options: byUID, holds: holds})
		}
		p.join("live")
		time.Sleep(25 * time.Second)
		assert.Equal(t, rangeCount, p.owned())
	})
}

// TestAnotherReaper: where the member whose turn it is cannot delete, the next one does.
func TestAnotherReaper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.join("a", withoutDelete(p.store))
		p.join("b")
		time.Sleep(20 * time.Second)
		p.abandon(record{identity: "dead", options: byUID})
		time.Sleep(30 * time.Second)
		p.store.mu.Lock()
		defer p.store.mu.Unlock()
		assert.NotContains(t, p.store.leases, "group.dead")
	})
}

// TestOutage: when the API server was away for longer than the duration of a Lease, no member takes
// others for dead that could not renew, either.
func TestOutage(t *testing.T) {
	for _, away := range []time.Duration{16 * time.Second, time.Minute, 10 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			p := newParty(t)
			for i := range 5 {
				p.join(fmt.Sprint("m", i))
				time.Sleep(137 * time.Millisecond)
			}
			time.Sleep(30 * time.Second)
			for _, m := range p.members {
				m.set(func(c *leaseClient) { c.cut = true })
			}
			time.Sleep(away)
			for _, m := range p.members {
				m.set(func(c *leaseClient) { c.cut = false })
			}
			time.Sleep(10 * time.Second)
			assert.Equal(t, rangeCount, p.owned())
			for _, m := range p.members {
				assert.Zero(t, m.Status().Lost, m.identity)
			}
		})
	}
}

// TestDeathAfterAnOutage: a member that has died meanwhile is found dead all the same.
func TestDeathAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		a, b := p.join("a"), p.join("b")
		time.Sleep(30 * time.Second)
		a.set(func(c *leaseClient) { c.cut = true })
		b.set(func(c *leaseClient) { c.dead = true })
		time.Sleep(time.Minute)
		a.set(func(c *leaseClient) { c.cut = false })
		time.Sleep(25 * time.Second)
		assert.Equal(t, rangeCount, a.Status().Ranges)
	})
}

// TestLabelTakenOff: a member whose Lease was hidden from the group joins again, whether or not the
// label is put back.
func TestLabelTakenOff(t *testing.T) {
	for _, again := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := newParty(t)
			p.join("a")
			time.Sleep(20 * time.Second)
			p.edit("a", func(l *coordinationv1.Lease) { l.Labels = nil })
			if again {
				time.Sleep(time.Second)
				p.edit("a", func(l *coordinationv1.Lease) { l.Labels = map[string]string{groupLabel: "group"} })
			}
			time.Sleep(40 * time.Second)
			assert.Equal(t, rangeCount, p.owned())
		})
	}
}

// TestLabelOfAnotherProcess: a member does not delete a hidden Lease that another process renews.
func TestLabelOfAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.abandon(record{identity: "a", options: byUID})
		p.edit("a", func(l *coordinationv1.Lease) { l.Labels = nil })
		p.join("a")
		for range 10 {
			time.Sleep(3 * time.Second)
			p.edit("a", func(l *coordinationv1.Lease) { l.Annotations["renewed"] += "x" })
		}
		err, ended := p.ended("a")
		var identity *IdentityError
		assert.True(t, ended)
		assert.ErrorAs(t, err, &identity)
	})
}

// TestSuspendedMachine: timers stop while a machine is suspended. When it resumes, running calls
// end at once, without a further call, before the network is back.
func TestSuspendedMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		m := p.join("a", WithHash(Key()))
		require.NoError(t, m.WaitForSync(t.Context()))
		r, _ := m.rangeOfKey(index.Key{Name: "a"})
		time.Sleep(time.Minute + m.retryPeriod/2) // the timer of the Lease waits for a call, and the member for its next round
		synctest.Wait()
		calling, done, v := m.begin(t.Context(), r)
		require.Equal(t, run, v)
		defer done()
		m.set(func(c *leaseClient) { c.cut = true })
		m.mu.Lock()
		m.renewed = m.renewed.Round(0).Add(-time.Minute) // as if the clock of the computer had gone on
		m.mu.Unlock()
		begin := time.Now()
		<-calling.Done()
		assert.Less(t, time.Since(begin), time.Second)
		assert.ErrorIs(t, context.Cause(calling), ErrLost)
	})
}

// TestLeaseNames: groups and identities with dots make different names.
func TestLeaseNames(t *testing.T) {
	seen := map[string]string{}
	parts := []string{"a", "b", "a.b", "b.a", "a.b.a", "a-b"}
	for _, group := range parts {
		for _, identity := range parts {
			g, err := New(&rest.Config{}, "ns", group, WithIdentity(identity))
			require.NoError(t, err)
			assert.Empty(t, seen[g.leaseName()], "%s of %s", identity, group)
			seen[g.leaseName()] = group + "/" + identity
		}
	}
}

// TestWaitingNamesMembers: three of them are named, the others counted.
func TestWaitingNamesMembers(t *testing.T) {
	m := &member{Group: &Group{hash: UID()}}
	var others []*sighting
	for i := range 5 {
		others = append(others, &sighting{record: record{identity: fmt.Sprint("m", i), holds: ranges{1 << i}}, dead: i < 4})
	}
	others = append(others, &sighting{record: record{identity: "x", options: "none"}, other: 1})
	assert.NoError(t, m.waitsFor(ranges{}, others))
	assert.EqualError(t, m.waitsFor(ranges{1 << 9}, nil), "1 ranges are being taken")
	got := strings.Split(m.waitsFor(ranges{0x1f}, others).Error(), "\n")
	assert.Equal(t, []string{
		"5 ranges wait for members that have other options to end: x (none)",
		"5 ranges wait until Leases are deleted of members that are dead: m0, m1, m2 and 1 others",
		"5 ranges wait for members that are to hand them over: m4",
	}, got)
}
