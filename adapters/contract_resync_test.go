package adapters_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
)

// clocked notes the times since the start at which a handler got updates.
type clocked struct {
	recorder
	begin time.Time
	at    []time.Duration
}

func (c *clocked) OnUpdate(_, _ any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = append(c.at, time.Since(c.begin))
}

// times returns the times since the last call, once all is quiet.
func (c *clocked) times() []time.Duration {
	c.next()
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.at
	c.at = nil
	return at
}

// resyncing adds a handler with a period; none is the informer's own.
func (r *rig) resyncing(period ...time.Duration) *clocked {
	r.t.Helper()
	c := &clocked{begin: time.Now()}
	options := cache.HandlerOptions{}
	if len(period) > 0 {
		options.ResyncPeriod = &period[0]
	}
	_, err := r.AddEventHandlerWithOptions(c, options)
	require.NoError(r.t, err)
	return c
}

func newResyncRig(t *testing.T, pods newPods, period time.Duration) *rig {
	r := newRigWith(t, pods, cache.SharedIndexInformerOptions{ResyncPeriod: period})
	r.script.lists("10", pod("a", "1"))
	return r
}

func minutes(n ...int) []time.Duration {
	var d []time.Duration
	for _, m := range n {
		d = append(d, time.Duration(m)*time.Minute)
	}
	return d
}

func TestContractResyncOfInformer(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, time.Minute)
		rec := r.handle()
		c := r.resyncing()
		r.run()
		assert.Equal(t, []string{"initial ns/a@1"}, rec.next())
		time.Sleep(3*time.Minute + time.Second)
		assert.Equal(t, minutes(1, 2, 3), c.times())
		objs := rec.objects()
		assert.Equal(t, []string{"update ns/a@1 ns/a@1", "update ns/a@1 ns/a@1", "update ns/a@1 ns/a@1"}, rec.next())
		require.Len(t, objs, 6)
		assert.Same(t, objs[0], objs[1], "old and new are one object")
		assert.Len(t, r.script.listCalls(), 1, "nothing is asked for")
		r.halt()
		time.Sleep(10 * time.Minute)
		assert.Empty(t, c.times())
	})
}

// The informer looks as often as the most frequent handler wants; the others
// get theirs at the first look after their period.
func TestContractResyncOfHandlers(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, 12*time.Minute)
		own, two, three, five, never := r.resyncing(), r.resyncing(2*time.Minute), r.resyncing(3*time.Minute), r.resyncing(5*time.Minute), r.resyncing(0)
		r.run()
		time.Sleep(13 * time.Minute)
		assert.Equal(t, minutes(2, 4, 6, 8, 10, 12), two.times())
		assert.Equal(t, minutes(4, 8, 12), three.times())
		assert.Equal(t, minutes(6, 12), five.times())
		assert.Equal(t, minutes(12), own.times())
		assert.Empty(t, never.times())
	})
}

// Once it runs, the informer looks no more often than it did.
func TestContractResyncOfLateHandlers(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, 4*time.Minute)
		r.run()
		often, own, seldom, never := r.resyncing(time.Minute), r.resyncing(), r.resyncing(6*time.Minute), r.resyncing(0)
		time.Sleep(17 * time.Minute)
		assert.Equal(t, minutes(4, 8, 12, 16), often.times())
		assert.Equal(t, minutes(4, 8, 12, 16), own.times())
		assert.Equal(t, minutes(8, 16), seldom.times())
		assert.Empty(t, never.times())
	})
}

// A handler's period counts from when it was added.
func TestContractResyncOfHandlerAddedBetween(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, 4*time.Minute)
		first := r.resyncing()
		r.run()
		time.Sleep(3 * time.Minute)
		second := r.resyncing()
		time.Sleep(14 * time.Minute)
		assert.Equal(t, minutes(4, 8, 12, 16), first.times())
		assert.Equal(t, minutes(5, 9, 13), second.times(), "the look after a minute comes too early")
	})
}

func TestContractResyncMinimum(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, time.Minute)
		c := r.resyncing(time.Millisecond)
		r.run()
		time.Sleep(3*time.Second + time.Millisecond)
		assert.Equal(t, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}, c.times())
	})
}

// The minimum is for handlers that ask, not for the informer's own looks.
func TestContractResyncOfHastyInformer(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, 400*time.Millisecond)
		c := r.resyncing()
		r.run()
		time.Sleep(2500 * time.Millisecond)
		assert.Equal(t, []time.Duration{1200 * time.Millisecond, 2400 * time.Millisecond}, c.times())
	})
}

// An informer without a period never resyncs, whatever handlers ask for.
func TestContractResyncNever(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, 0)
		before := r.resyncing(time.Minute)
		r.run()
		after, own := r.resyncing(time.Minute), r.resyncing()
		time.Sleep(time.Hour)
		assert.Empty(t, before.times())
		assert.Empty(t, after.times())
		assert.Empty(t, own.times())
	})
}

func TestContractResyncWithResyncPeriodMethod(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, 10*time.Minute)
		c := &clocked{begin: time.Now()}
		_, err := r.AddEventHandlerWithResyncPeriod(c, 4*time.Minute)
		require.NoError(t, err)
		r.run()
		time.Sleep(9 * time.Minute)
		assert.Equal(t, minutes(4, 8), c.times())
	})
}

// A resync delivers the objects of the store, including those that the program added.
func TestContractResyncOfStore(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, time.Minute)
		rec := r.handle()
		r.run()
		rec.next()
		require.NoError(t, r.GetStore().Add(pod("seeded", "2")))
		require.NoError(t, r.GetStore().Update(pod("a", "3")))
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"update ns/a@3 ns/a@3", "update ns/seeded@2 ns/seeded@2"}, rec.nextSorted())
	})
}

// Each list restarts the resync period.
func TestContractResyncAfterRelist(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, 10*time.Minute)
		c := r.resyncing()
		r.run()
		time.Sleep(7 * time.Minute)
		r.relist("20", pod("a", "15"))
		relisted := time.Since(c.begin)
		assert.Len(t, c.times(), 1, "the relist's own")
		time.Sleep(11 * time.Minute)
		listed := r.script.listCalls()[1].at.Sub(c.begin)
		assert.LessOrEqual(t, listed, relisted)
		assert.Equal(t, []time.Duration{listed + 10*time.Minute}, c.times())
	})
}

// Updates of the same version are for handlers that resync: those that took
// part in the last look. Before the first look all do.
func TestContractResyncDecidesOnSameVersions(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, time.Minute)
		own, never, slow := r.handle(), r.handleWith(period(0)), r.handleWith(period(2*time.Minute))
		r.run()
		same := func(want ...int) {
			t.Helper()
			for _, rec := range []*recorder{own, never, slow} {
				rec.next()
			}
			r.send(modified(pod("a", "1")))
			assert.Equal(t, want, []int{len(own.next()), len(never.next()), len(slow.next())})
		}
		same(1, 1, 1)
		time.Sleep(time.Minute)
		same(1, 0, 0)
		time.Sleep(time.Minute)
		same(1, 0, 1)
		late := r.handleWith(period(0))
		late.next()
		same(1, 0, 1)
		assert.Len(t, late.next(), 1, "it has not been looked at yet")
		r.send(modified(pod("a", "11")))
		for _, rec := range []*recorder{own, never, slow, late} {
			assert.Equal(t, []string{"update ns/a@1 ns/a@11"}, rec.next(), "changes are for all")
		}
	})
}

// Fakes send one object again and again: it is an update, and no resync.
func TestContractResyncDecidesOnTheSameObject(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, time.Minute)
		own, never := r.handle(), r.handleWith(period(0))
		r.run()
		time.Sleep(time.Minute)
		object := pod("b", "11")
		r.send(added(object))
		own.next()
		never.next()
		r.send(modified(object), modified(object))
		assert.Equal(t, []string{"update ns/b@11 ns/b@11", "update ns/b@11 ns/b@11"}, own.next())
		assert.Empty(t, never.next())
	})
}

// So it is with what a relist finds unchanged.
func TestContractResyncDecidesOnRelists(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, 10*time.Minute)
		own, never := r.handle(), r.handleWith(period(0))
		r.run()
		time.Sleep(10 * time.Minute)
		own.next()
		never.next()
		r.relist("20", pod("a", "1"), pod("b", "11"))
		assert.Equal(t, []string{"update ns/a@1 ns/a@1", "add ns/b@11"}, own.next())
		assert.Equal(t, []string{"add ns/b@11"}, never.next())
	})
}

// A handler without resyncs also receives updates that leave the version unchanged.
func TestContractSameVersionsWithoutResync(t *testing.T) {
	eachInformer(t, func(t *testing.T, pods newPods) {
		r := newResyncRig(t, pods, 0)
		rec := r.handleWith(period(0))
		r.run()
		rec.next()
		time.Sleep(time.Hour)
		r.send(modified(pod("a", "1")))
		assert.Equal(t, []string{"update ns/a@1 ns/a@1"}, rec.next())
		r.relist("20", pod("a", "1"))
		assert.Equal(t, []string{"update ns/a@1 ns/a@1"}, rec.next())
	})
}

func period(d time.Duration) cache.HandlerOptions { return cache.HandlerOptions{ResyncPeriod: &d} }
