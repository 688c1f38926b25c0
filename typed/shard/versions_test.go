package shard

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/source"
)

// movedSink counts the reports that versions have moved.
type movedSink struct {
	sinktest.Recorder[*corev1.ConfigMap]
	moved int
}

func (s *movedSink) Step(changes []index.Change[*corev1.ConfigMap], version string, done func()) {
	if len(changes) == 0 && version == "" && done == nil {
		s.moved++
	}
}

// TestVersionsOfWatches: a watch reports that it has moved, and only where it is not the slowest.
func TestVersionsOfWatches(t *testing.T) {
	g, err := newGroup(&leaseClient{leaseStore: newLeaseStore()}, "ns", "group", []Option{WithIdentity("a"), WithHash(Key())})
	require.NoError(t, err)
	to := &movedSink{}
	p := newParts(NewSource(g, func() source.Source[*corev1.ConfigMap] { return nil }), to)
	p.follower = &follower{group: g, changed: make(chan struct{}, 1)}
	p.asks.Store(true)
	begin := func(ranges ...uint8) source.Sink[*corev1.ConfigMap] {
		for _, r := range ranges {
			g.kept.add(r)
		}
		return p.follow(context.Background(), false)[0]
	}
	first := begin(1, 2)
	assert.Equal(t, "", p.versionOf(1))
	first.Replace(source.List{}, "3")
	assert.Equal(t, "3", p.versionOf(1))
	assert.Zero(t, to.moved, "one watch has one version")
	second := begin(3)
	second.Replace(source.List{}, "4")
	moved := to.moved
	first.Step(nil, "3", nil)
	second.Step(nil, "7", nil)
	assert.Greater(t, to.moved, moved, "it is ahead of the other one")
	assert.Equal(t, "7", p.versionOf(3))
	assert.Equal(t, "3", p.versionOf(2))
	assert.Equal(t, "", p.versionOf(9), "it is not kept")
}
