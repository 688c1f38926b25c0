package shard

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/source"
)

// TestServerThatStopsSelecting: when a server sends everything to each watch, one watch replaces
// all; and Status reports when a later watch gets only its own hash ranges.
func TestServerThatStopsSelecting(t *testing.T) {
	g, err := newGroup(&leaseClient{leaseStore: newLeaseStore()}, "ns", "group", []Option{WithIdentity("a"), WithHash(Key())})
	require.NoError(t, err)
	s := NewSource(g, func() source.Source[*corev1.ConfigMap] { return nil })
	p := newParts(s, &sinktest.Recorder[*corev1.ConfigMap]{})
	p.follower = &follower{group: g, changed: make(chan struct{}, 1)}
	s.asks.Store(true)
	objectIn := func(has func(r uint8) bool) *corev1.ConfigMap {
		for i := 0; ; i++ {
			obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("o", i)}}
			if r, err := s.rangeOf(obj); err == nil && has(r) {
				return obj
			}
		}
	}
	follow := func(rest bool) []*part[*corev1.ConfigMap] { return p.follow(context.Background(), rest) }
	for r := range 3 {
		g.kept.add(uint8(r))
		begun := follow(false)
		require.Len(t, begun, 1)
		begun[0].Replace(source.List{}, "1")
	}
	require.Len(t, p.running, 3)
	assert.Empty(t, follow(true), "each has what it asks for")
	assert.True(t, s.Status().Server)

	for len(p.follower.changed) > 0 {
		<-p.follower.changed
	}
	first := p.running[0]
	first.Change(index.Change[*corev1.ConfigMap]{Object: objectIn(func(r uint8) bool { return !first.asked.has(r) })}, "2")
	assert.False(t, s.Status().Server)
	assert.Len(t, p.follower.changed, 1, "that is looked at soon")
	assert.Empty(t, follow(false), "not while ranges move")
	one := follow(true)
	require.Len(t, one, 1)
	assert.Equal(t, g.kept, one[0].asked)
	one[0].Replace(source.List{Items: source.StageAll[*corev1.ConfigMap](one[0], []*corev1.ConfigMap{objectIn(func(r uint8) bool { return !g.kept.has(r) })})}, "3")
	assert.Len(t, p.running, 1, "it gets everything once")
	assert.Empty(t, follow(true))
	assert.False(t, s.Status().Server)

	g.kept.add(9)
	again := follow(false)
	require.Len(t, again, 1)
	again[0].Replace(source.List{}, "4")
	assert.Empty(t, follow(false))
	assert.True(t, s.Status().Server, "it selects again, by all watches that there are")
}
