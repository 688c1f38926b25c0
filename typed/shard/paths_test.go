package shard

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/source"
)

// TestPaths: all reports of a part reach the informer.
func TestPaths(t *testing.T) {
	obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "1", ResourceVersion: "1"}}
	sinktest.Path[*corev1.ConfigMap, *corev1.ConfigMap]{
		Begin: func(t *testing.T, to source.Sink[*corev1.ConfigMap]) source.Sink[*corev1.ConfigMap] {
			g, err := newGroup(&leaseClient{leaseStore: newLeaseStore()}, "ns", "group", []Option{WithIdentity("a")})
			require.NoError(t, err)
			p := newParts[*corev1.ConfigMap](NewSource(g, func() source.Source[*corev1.ConfigMap] { return nil }), to)
			p.follower = &follower{group: g, changed: make(chan struct{}, 1)}
			for r := range rangeCount {
				g.kept.add(uint8(r))
			}
			return p.follow(context.Background(), false)[0]
		},
		Object: obj, Back: func(obj *corev1.ConfigMap) *corev1.ConfigMap { return obj }, Held: true, Compares: true,
	}.Test(t)
}

// TestOmits: a source that is shared leaves out what the one that it shares does, which is known
// at once; and one that does so later ends with an error if that is needed.
func TestOmits(t *testing.T) {
	const field = "metadata.labels"
	g, err := newGroup(&leaseClient{leaseStore: newLeaseStore()}, "ns", "group", []Option{WithIdentity("a")})
	require.NoError(t, err)
	opened := 0
	s := NewSource(g, func() source.Source[*corev1.ConfigMap] {
		opened++
		return unlabeled{opened > 1}
	})
	assert.False(t, s.Omits(field), "the first one has all")
	assert.True(t, NewSource(g, func() source.Source[*corev1.ConfigMap] { return unlabeled{true} }).Omits(field))
	for _, needs := range [][]string{nil, {field}} {
		q := &part[*corev1.ConfigMap]{parts: newParts(s, source.Sink[*corev1.ConfigMap](&sinktest.Recorder[*corev1.ConfigMap]{Needs: needs}))}
		q.ctx, q.cancel = context.WithCancel(t.Context())
		err := q.run()
		if needs == nil {
			assert.NoError(t, err)
		} else {
			assert.ErrorContains(t, err, "omits metadata.labels")
		}
	}
}

// TestHashOfOmittedField: a source that leaves out the field of its hash ends with an
// error, or all of them would be one member's.
func TestHashOfOmittedField(t *testing.T) {
	g, err := newGroup(&leaseClient{leaseStore: newLeaseStore()}, "ns", "group", []Option{WithIdentity("a")})
	require.NoError(t, err)
	for hash, wants := range map[*Hash]string{new(Label("app")): "hash Label app reads metadata.labels", new(OwnerKey()): "", new(UID()): ""} {
		s := NewSource(g, func() source.Source[*corev1.ConfigMap] { return unlabeled{true} }, BySame[*corev1.ConfigMap](*hash))
		q := &part[*corev1.ConfigMap]{parts: newParts(s, source.Sink[*corev1.ConfigMap](&sinktest.Recorder[*corev1.ConfigMap]{}))}
		q.ctx, q.cancel = context.WithCancel(t.Context())
		if err := q.run(); wants == "" {
			assert.NoError(t, err)
		} else {
			assert.ErrorContains(t, err, wants)
		}
	}
}

// unlabeled is a source without objects, which may leave their labels out.
type unlabeled struct{ omits bool }

func (unlabeled) Run(context.Context, source.Sink[*corev1.ConfigMap]) error { return nil }

func (u unlabeled) Omits(field string) bool { return u.omits && field == "metadata.labels" }

// TestDerives: a shared source leads to its input, and to those that it opens later.
func TestDerives(t *testing.T) {
	g, err := newGroup(&leaseClient{leaseStore: newLeaseStore()}, "ns", "group", []Option{WithIdentity("a")})
	require.NoError(t, err)
	var s *Source[*corev1.ConfigMap]
	opened := func() int {
		require.Len(t, s.DerivedFrom(), 1)
		return len(s.DerivedFrom()[0].DerivedFrom())
	}
	running := 0
	s = NewSource(g, func() source.Source[*corev1.ConfigMap] { return derived(func() { running = opened() }) })
	assert.Equal(t, 1, opened(), "the first one")
	q := &part[*corev1.ConfigMap]{parts: newParts(s, source.Sink[*corev1.ConfigMap](&sinktest.Recorder[*corev1.ConfigMap]{}))}
	q.ctx, q.cancel = context.WithCancel(t.Context())
	assert.NoError(t, q.run())
	assert.Equal(t, 2, running, "and one that runs")
	assert.Equal(t, 1, opened())
}

// derived is a source that is derived from nothing, and is called when it runs.
type derived func()

func (d derived) Run(context.Context, source.Sink[*corev1.ConfigMap]) error { d(); return nil }

func (derived) DerivedFrom() []source.Derived { return nil }
