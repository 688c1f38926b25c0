package shard

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/source"
)

// TestListsDoNotPileUp: ranges that come one after another, while lists take long, are listed
// by two lists at a time, and none is forgotten.
func TestListsDoNotPileUp(t *testing.T) {
	for name, asks := range map[string]bool{"the server selects": true, "it is done here": false} {
		t.Run(name, func(t *testing.T) {
			g, err := newGroup(&leaseClient{leaseStore: newLeaseStore()}, "ns", "group", []Option{WithIdentity("a"), WithHash(Key())})
			require.NoError(t, err)
			p := newParts(NewSource(g, func() source.Source[*corev1.ConfigMap] { return nil }), &sinktest.Recorder[*corev1.ConfigMap]{})
			p.follower = &follower{group: g, changed: make(chan struct{}, 1)}
			p.asks.Store(asks)
			var begun []*part[*corev1.ConfigMap]
			follow := func() { begun = append(begun, p.follow(context.Background(), false)...) }
			for r := range 20 {
				g.kept.add(uint8(r))
				follow()
				assert.LessOrEqual(t, p.listing(), mostLists)
			}
			assert.Len(t, begun, mostLists)
			for i := 0; i < len(begun); i++ {
				if !begun[i].removed {
					begun[i].Replace(source.List{}, "1")
				}
				require.Len(t, p.follower.changed, 1, "the next list can begin")
				<-p.follower.changed
				follow()
				assert.LessOrEqual(t, p.listing(), mostLists)
			}
			assert.LessOrEqual(t, len(begun), mostLists+2)
			assert.Equal(t, g.kept, p.loaded, "all ranges have been listed")
		})
	}
}
