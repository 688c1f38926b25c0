package shard

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
)

// TestEditedLeaseEndsCalls: a call ends when the Lease no longer has its range.
func TestEditedLeaseEndsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		a := p.join("a")
		time.Sleep(21 * time.Second) // between two rounds
		calling, done, v := a.begin(t.Context(), 255)
		require.Equal(t, run, v)
		p.edit("a", func(l *coordinationv1.Lease) { l.Annotations[holdsAnnotation] = everything.lowest(255).String() })
		time.Sleep(3 * time.Second)
		assert.ErrorIs(t, context.Cause(calling), ErrLost)
		done()
		time.Sleep(20 * time.Second)
		assert.Equal(t, rangeCount, a.Status().Ranges, "it takes the range again")
	})
}

// TestInvalidLeaseKeepsItsRanges: no member takes the ranges of one whose Lease cannot be read,
// until that one is dead, and the others keep their own.
func TestInvalidLeaseKeepsItsRanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		a, b := p.join("a"), p.join("b")
		time.Sleep(21 * time.Second)
		a.set(func(c *leaseClient) { c.cut = true })
		p.edit("a", func(l *coordinationv1.Lease) { l.Annotations[holdsAnnotation] = "garbage" })
		for range 20 {
			time.Sleep(100 * time.Millisecond)
			assert.Equal(t, rangeCount/2, b.Status().Ranges)
		}
		p.join("c")
		for range 70 {
			time.Sleep(100 * time.Millisecond)
			p.owned() // no range has two members
		}
		time.Sleep(time.Minute)
		assert.Equal(t, rangeCount/2, b.Status().Ranges)
	})
}

// TestLeavingWithoutALease waits for the calls all the same, and makes no other Lease.
func TestLeavingWithoutALease(t *testing.T) {
	for name, lose := range map[string]func(p *party, a *simulated){
		"deleted": func(p *party, _ *simulated) {
			p.store.mu.Lock()
			defer p.store.mu.Unlock()
			delete(p.store.leases, "group.a")
		},
		"not renewed": func(_ *party, a *simulated) { a.set(func(c *leaseClient) { c.cut = true }) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newParty(t)
				a := p.join("a")
				time.Sleep(21 * time.Second)
				calling, done, v := a.begin(t.Context(), 255)
				require.Equal(t, run, v)
				lose(p, a)
				a.stop()
				created := p.store.count("create")
				time.Sleep(15 * time.Second)
				assert.ErrorIs(t, context.Cause(calling), ErrLost)
				_, ended := p.ended("a")
				assert.False(t, ended, "a call runs")
				assert.Equal(t, created, p.store.count("create"))
				done()
				time.Sleep(5 * time.Second)
				err, ended := p.ended("a")
				assert.True(t, ended)
				assert.NoError(t, err)
			})
		})
	}
}
