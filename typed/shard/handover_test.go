package shard

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/source"
)

// joinListing starts a member with a source, which takes some time to list a new share.
func (p *party) joinListing(takes time.Duration, identity string, opts ...Option) *simulated {
	m := p.member(identity, opts...)
	f, leave := m.follow() // before the member takes ranges
	p.start(m)
	ctx, cancel := context.WithCancel(context.Background())
	p.t.Cleanup(cancel)
	p.running.Go(func() {
		defer leave()
		var lists sync.WaitGroup
		defer lists.Wait()
		for { // as parts.run: the share may be there already
			kept, since := f.share()
			lists.Go(func() {
				if sleep(ctx, takes) == nil {
					f.loaded(kept, since)
				}
			})
			select {
			case <-f.changed:
			case <-ctx.Done():
				return
			}
		}
	})
	return m
}

// worked counts the ranges that members hand out keys of.
func (p *party) worked() (n int) {
	for _, m := range p.members {
		for r := range rangeCount {
			if _, done, v := m.begin(context.Background(), uint8(r)); v == run {
				n++
				done()
			}
		}
	}
	return n
}

// TestWorkGoesOnUntilTheNextHasListed: a list takes half a minute, and a range is without work
// for some seconds at most, whether a member joins or leaves.
func TestWorkGoesOnUntilTheNextHasListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		a := p.joinListing(30*time.Second, "a")
		time.Sleep(40 * time.Second)
		require.Equal(t, rangeCount, p.worked())
		b := p.joinListing(30*time.Second, "b")
		idle := func(d time.Duration) (n int) {
			for range d / (100 * time.Millisecond) {
				time.Sleep(100 * time.Millisecond)
				if p.worked() < rangeCount {
					n++
				}
			}
			return n
		}
		assert.Zero(t, idle(29*time.Second))
		assert.ErrorContains(t, b.Status().Waiting, "128 ranges wait until their objects are listed here")
		assert.Less(t, idle(20*time.Second), 50, "while 128 ranges move")
		assert.Equal(t, 128, b.Status().Ranges)

		left := make(chan struct{})
		go func() { defer close(left); a.Leave(t.Context()) }()
		assert.Zero(t, idle(29*time.Second))
		assert.Less(t, idle(20*time.Second), 50)
		<-left
		assert.Equal(t, rangeCount, b.Status().Ranges)
	})
}

// TestLeaveAlone: Leave returns at once if there is no other member.
func TestLeaveAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		a := p.join("a")
		time.Sleep(20 * time.Second)
		begin := time.Now()
		a.Leave(t.Context())
		assert.Less(t, time.Since(begin), 5*time.Second)
		assert.Equal(t, rangeCount, p.worked(), "it works on until it ends")
	})
}

// TestMembersOfEarlierVersions: a member that does not say which ranges it has listed is not
// waited for.
func TestMembersOfEarlierVersions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		a := p.join("a")
		time.Sleep(20 * time.Second)
		p.abandon(record{identity: "b", options: byUID})
		p.edit("b", func(l *coordinationv1.Lease) { delete(l.Annotations, preparesAnnotation) })
		time.Sleep(5 * time.Second)
		assert.Equal(t, rangeCount/2, a.Status().Ranges)
	})
}

// TestKeysOfARangeThatLeaves: while one call for a range that is to move takes long, its other
// keys are handed out, for three quarters of the drain timeout. It moves when no call runs, and
// contexts end after the drain timeout.
func TestKeysOfARangeThatLeaves(t *testing.T) {
	for _, takes := range []time.Duration{10 * time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			p := newParty(t)
			a := p.join("a")
			time.Sleep(20 * time.Second)
			calling, done, v := a.begin(t.Context(), 255)
			require.Equal(t, run, v)
			b := p.join("b")
			begin, until := time.Now(), time.Duration(0)
			for ; time.Since(begin) < min(takes, 30*time.Second); time.Sleep(100 * time.Millisecond) {
				if _, end, v := a.begin(t.Context(), 255); v == run {
					until = time.Since(begin)
					end()
				}
				if calling.Err() != nil {
					break
				}
			}
			assert.Less(t, b.Status().Ranges, 128, "it has not all yet")
			if takes < a.drainTimeout {
				assert.Greater(t, until, 9*time.Second)
				assert.NoError(t, calling.Err())
			} else {
				assert.InDelta(t, 17, until.Seconds(), 3)
				assert.ErrorIs(t, context.Cause(calling), ErrMoved)
				assert.InDelta(t, 22, time.Since(begin).Seconds(), 3)
			}
			done()
			time.Sleep(5 * time.Second)
			assert.Equal(t, 128, b.Status().Ranges)
		})
	}
}

// TestRangesThatComeAreNotDropped: keys of a range that a member is about to have wait.
func TestRangesThatComeAreNotDropped(t *testing.T) {
	g := &Group{}
	g.coming.add(7)
	_, _, v := g.begin(t.Context(), 7)
	assert.Equal(t, soon, v)
	_, _, v = g.begin(t.Context(), 8)
	assert.Equal(t, never, v)
}

// TestSightingsOfHands: a member counts that its Lease was edited, that its ranges were given
// to others, and that it could not renew in time.
func TestSightingsOfHands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		a, b := p.join("a"), p.join("b")
		time.Sleep(21 * time.Second) // between two rounds
		p.edit("a", func(l *coordinationv1.Lease) { l.Annotations["note"] = "x" })
		b.set(func(c *leaseClient) { c.cut = true })
		p.edit("b", func(l *coordinationv1.Lease) { l.Annotations[holdsAnnotation] = everything.String() })
		time.Sleep(3 * time.Second)
		b.set(func(c *leaseClient) { c.cut = false })
		a.set(func(c *leaseClient) { c.cut = true })
		time.Sleep(12 * time.Second)
		a.set(func(c *leaseClient) { c.cut = false })
		time.Sleep(20 * time.Second)
		s := a.Status()
		assert.Equal(t, []int{1, 1, 1}, []int{s.Edited, s.Overlaps, s.Lapsed})
	})
}

// TestUnchangedObjectsAreReportedOnce: a list for ranges that come reports changed objects of the
// others alone. A list after a watch has ended reports all.
func TestUnchangedObjectsAreReportedOnce(t *testing.T) {
	g, err := newGroup(&leaseClient{leaseStore: newLeaseStore()}, "ns", "group", []Option{WithIdentity("a"), WithHash(Key())})
	require.NoError(t, err)
	sink := &sinktest.Recorder[*corev1.ConfigMap]{}
	p := newParts(NewSource(g, func() source.Source[*corev1.ConfigMap] { return nil }), sink)
	p.follower = &follower{group: g, changed: make(chan struct{}, 1)}
	g.kept = everything.lowest(128)
	objects := func(changed int) (all []*corev1.ConfigMap) {
		for i := range 100 {
			obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint(i), ResourceVersion: "3"}}
			if r, err := p.rangeOf(obj); err == nil && r < 128 {
				if len(all) < changed {
					obj.ResourceVersion = "7"
				}
				all = append(all, obj)
			}
		}
		return all
	}
	list := func(q *part[*corev1.ConfigMap], changed int, version string) int {
		q.Replace(source.List{Items: source.StageAll[*corev1.ConfigMap](q, objects(changed))}, version)
		told := 0
		reports, _ := sink.Take()
		for _, report := range reports {
			told += len(report.List.Items)
		}
		return told
	}
	all := len(objects(0))
	first := p.follow(context.Background(), false)[0]
	assert.Equal(t, all, list(first, 0, "5"))
	g.kept.add(200)
	second := p.follow(context.Background(), false)[0]
	require.Equal(t, g.kept, second.asked)
	assert.Equal(t, 2, list(second, 2, "8"))
	assert.Equal(t, all, list(second, 2, "9"))
}
