package shard

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/source"
)

// member1 runs a member until it ends by itself, or for some time.
func member1(t *testing.T, c *leaseClient, d time.Duration, opts ...Option) (*Group, func() error) {
	g, err := newGroup(c, "ns", "group", opts)
	require.NoError(t, err)
	ctx, stop := context.WithTimeout(context.Background(), d)
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	return g, func() error { defer stop(); return <-ended }
}

// TestMissingRights: the error has the Role that is missing.
func TestMissingRights(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &leaseClient{leaseStore: newLeaseStore(), deny: apierrors.NewForbidden(leaseResource, "", errors.New("no"))}
		_, ended := member1(t, c, time.Minute)
		err := ended()
		var forbidden *ForbiddenError
		require.ErrorAs(t, err, &forbidden)
		assert.ErrorContains(t, err, "shard group ns/group: the Leases cannot be listed")
		assert.ErrorContains(t, err, "kind: Role\nmetadata:\n  name: shard-member\n  namespace: ns\n")
		assert.ErrorContains(t, err, `verbs: ["get", "list", "create", "update", "delete"]`)
	})
}

// TestOtherOptions: a newcomer with another hash is refused, and the other members continue.
func TestOtherOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLeaseStore()
		g, first := member1(t, &leaseClient{leaseStore: store}, time.Minute, WithIdentity("a"))
		time.Sleep(10 * time.Second)
		_, second := member1(t, &leaseClient{leaseStore: store}, time.Minute, WithIdentity("b"), WithHash(Key()))
		var options *OptionsError
		require.ErrorAs(t, second(), &options)
		assert.Equal(t, OptionsError{Own: "256 ranges by Key", Theirs: "256 ranges by UID", Member: "a"}, *options)
		assert.Equal(t, rangeCount, g.Status().Ranges)
		assert.NoError(t, first())
		assert.Empty(t, store.leases, "it has left")
	})
}

// TestTakenIdentity: a member distinguishes a live process with its identity from an earlier one
// that has died.
func TestTakenIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLeaseStore()
		dying := &leaseClient{leaseStore: store}
		first, ended := member1(t, dying, 30*time.Second, WithIdentity("a"))
		time.Sleep(10 * time.Second)
		_, second := member1(t, &leaseClient{leaseStore: store}, time.Minute, WithIdentity("a"))
		var identity *IdentityError
		require.ErrorAs(t, second(), &identity)
		assert.Equal(t, rangeCount, first.Status().Ranges)

		dying.mu.Lock()
		dying.dead = true
		dying.mu.Unlock()
		third, end := member1(t, &leaseClient{leaseStore: store}, 2*time.Minute, WithIdentity("a"))
		require.NoError(t, ended())
		time.Sleep(20 * time.Second)
		assert.Equal(t, rangeCount, third.Status().Ranges)
		assert.NoError(t, end())
	})
}

// TestStandsStill: a member that cannot renew stops by itself before its Lease expires, and resumes
// when it can, if no other member has replaced it; its calls have ended.
func TestStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &leaseClient{leaseStore: newLeaseStore()}
		g, end := member1(t, c, 2*time.Minute, WithHash(Key()))
		require.NoError(t, g.WaitForSync(t.Context()))
		key := index.Key{Namespace: "ns", Name: "a"}
		assert.True(t, g.Owns(key))
		before := g.Generation(key)
		r, _ := g.rangeOfKey(key)
		calling, done, v := g.begin(t.Context(), r)
		require.Equal(t, run, v)
		c.mu.Lock()
		c.cut = true
		c.mu.Unlock()
		time.Sleep(10*time.Second + time.Millisecond)
		assert.False(t, g.Owns(key))
		assert.Empty(t, g.Generation(key))
		assert.ErrorIs(t, context.Cause(calling), ErrLost)
		_, _, v = g.begin(t.Context(), r)
		assert.Equal(t, later, v)
		done()
		c.mu.Lock()
		c.cut = false
		c.mu.Unlock()
		time.Sleep(10 * time.Second)
		assert.True(t, g.Owns(key))
		assert.Equal(t, before, g.Generation(key))
		assert.NoError(t, end())
		assert.False(t, g.Owns(key))
	})
}

// TestWrongArguments: what cannot be used is an error, and none of it a panic.
func TestWrongArguments(t *testing.T) {
	config := &rest.Config{}
	for want, make := range map[string]func() (*Group, error){
		"client configuration is nil":         func() (*Group, error) { return New(nil, "ns", "a") },
		"namespace is empty: Leases need one": func() (*Group, error) { return New(config, "", "a") },
		"the name is to be a label":           func() (*Group, error) { return New(config, "ns", "A b") },
		"option is nil":                       func() (*Group, error) { return New(config, "ns", "a", nil) },
		"the identity":                        func() (*Group, error) { return New(config, "ns", "a", WithIdentity("A b")) },
		"is not one of this package's":        func() (*Group, error) { return New(config, "ns", "a", WithHash(Hash{})) },
		"the lease duration":                  func() (*Group, error) { return New(config, "ns", "a", WithLeaseDuration(time.Second)) },
		"the drain timeout":                   func() (*Group, error) { return New(config, "ns", "a", WithDrainTimeout(-1)) },
	} {
		_, err := make()
		assert.ErrorContains(t, err, want)
	}
	g, err := New(config, "ns", "a")
	require.NoError(t, err)
	for want, src := range map[string]source.Source[*corev1.Pod]{
		"group is nil":                  NewSource[*corev1.Pod](nil, nil),
		"source function is nil":        NewSource[*corev1.Pod](g, nil),
		"needs a name and a function":   NewSource(g, func() source.Source[*corev1.Pod] { return nil }, By[*corev1.Pod]("x", nil)),
		"option is nil":                 NewSource(g, func() source.Source[*corev1.Pod] { return nil }, nil),
		"not one of this package's fun": NewSource(g, func() source.Source[*corev1.Pod] { return nil }, BySame[*corev1.Pod](Hash{})),
	} {
		assert.ErrorContains(t, typed.NewInformer(src).Run(t.Context()), want)
	}
}

// TestReconcileOfNothing: control.Run refuses what Reconcile makes of a nil function, as it refuses that.
func TestReconcileOfNothing(t *testing.T) {
	g, err := New(&rest.Config{}, "ns", "a")
	require.NoError(t, err)
	q, err := queue.NewWorkQueue[index.Key]()
	require.NoError(t, err)
	defer q.ShutDown()
	pods := NewSource(g, func() source.Source[*corev1.Pod] { return nil })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorContains(t, control.Run(ctx, control.WithWorkers(q, 1, pods.Reconcile(nil))), "reconcile function is nil")
}

// TestHashThatPanics: an object for which a function panics is rejected, alone.
func TestHashThatPanics(t *testing.T) {
	g, err := New(&rest.Config{}, "ns", "a", WithHash(Key()))
	require.NoError(t, err)
	s := NewSource(g, func() source.Source[*corev1.Pod] { return nil }, By("node", func(p *corev1.Pod) string {
		if p.Spec.NodeName == "" {
			panic("no node")
		}
		return p.Spec.NodeName
	}))
	_, err = s.rangeOf(&corev1.Pod{})
	assert.ErrorContains(t, err, "the function by which it is shared, node, panics: no node")
	r, err := s.rangeOf(&corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}})
	require.NoError(t, err)
	assert.Equal(t, mixedRangeOf("n"), r)
}
