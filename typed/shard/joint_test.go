package shard

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRunJointly: a group that several controllers need runs once, until the last of them has no
// more use for it, and gives up its Lease before that one returns.
func TestRunJointly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLeaseStore()
		g, err := newGroup(&leaseClient{leaseStore: store}, "ns", "group", []Option{WithIdentity("a")})
		require.NoError(t, err)
		runs := 0
		results := make(chan error, 2)
		use := func() context.CancelFunc {
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				results <- g.RunJointly(ctx, func(ctx context.Context) error { runs++; return g.Run(ctx) })
			}()
			synctest.Wait()
			return cancel
		}
		first, second := use(), use()
		require.NoError(t, g.WaitForSync(t.Context()))
		first()
		require.NoError(t, <-results)
		assert.True(t, g.owns(0), "the second needs it")
		assert.NotEmpty(t, store.leases)
		second()
		require.NoError(t, <-results)
		assert.False(t, g.owns(0))
		assert.Empty(t, store.leases)
		assert.Equal(t, 1, runs, "once for both")
		use()
		assert.ErrorContains(t, <-results, "it is run a second time", "a group is run once")
	})
}

// TestRunJointlyFails: all callers get the error that the group has ended with.
func TestRunJointlyFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := newGroup(&leaseClient{leaseStore: newLeaseStore()}, "ns", "group", []Option{WithIdentity("a")})
		require.NoError(t, err)
		results := make(chan error, 2)
		fail := make(chan struct{})
		for range 2 {
			go func() {
				results <- g.RunJointly(t.Context(), func(context.Context) error { <-fail; return assert.AnError })
			}()
		}
		synctest.Wait()
		close(fail)
		assert.ErrorIs(t, <-results, assert.AnError)
		assert.ErrorIs(t, <-results, assert.AnError)
	})
}

// TestLeaveIsThatOfAllUsers: a group that one controller needs is not left because two others have, one
// after the other.
func TestLeaveIsThatOfAllUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLeaseStore()
		use := func(g *Group) (end func()) {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- g.RunJointly(ctx, g.Run) }()
			synctest.Wait()
			return func() {
				cancel()
				assert.NoError(t, <-ended)
			}
		}
		join := func(identity string) *Group {
			g, err := newGroup(&leaseClient{leaseStore: store}, "ns", "group", []Option{WithIdentity(identity)})
			require.NoError(t, err)
			return g
		}
		g := join("a")
		defer use(g)()
		defer use(join("b"))()
		for range 2 {
			end := use(g)
			time.Sleep(time.Minute)
			g.Leave(t.Context())
			end()
		}
		time.Sleep(time.Minute)
		assert.Equal(t, rangeCount/2, g.Status().Ranges)
	})
}
