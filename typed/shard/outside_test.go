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

// TestFirstListReportsObjectsOutside: the first list of some hash ranges reports the objects that
// are outside of them, by their keys, or by the objects in the sink.
func TestFirstListReportsObjectsOutside(t *testing.T) {
	for _, hash := range []Hash{Key(), Label("place")} {
		t.Run(hash.String(), func(t *testing.T) {
			g, err := newGroup(&leaseClient{leaseStore: newLeaseStore()}, "ns", "group", []Option{WithIdentity("a"), WithHash(hash)})
			require.NoError(t, err)
			to := &sinktest.Recorder[*corev1.ConfigMap]{Held: map[index.Key]*corev1.ConfigMap{}}
			s := NewSource(g, func() source.Source[*corev1.ConfigMap] { return nil })
			p := newParts(s, to)
			p.follower = &follower{group: g, changed: make(chan struct{}, 1)}
			for r := range rangeCount / 2 {
				g.kept.add(uint8(r))
			}
			q := p.follow(context.Background(), false)[0]
			q.Replace(source.List{}, "1")
			reports, _ := to.Take()
			require.NotEmpty(t, reports)
			l := reports[0].List
			assert.Equal(t, index.Acquired, l.Reason)
			require.NotNil(t, l.Released)
			outside := 0
			for i := range 64 {
				obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("o", i), Labels: map[string]string{"place": fmt.Sprint(i)}}}
				to.Held[index.KeyOf(obj)] = obj
				r, err := s.rangeOf(obj)
				require.NoError(t, err)
				assert.Equal(t, !g.kept.has(r), l.Released(index.KeyOf(obj)))
				if !g.kept.has(r) {
					outside++
				}
			}
			assert.InDelta(t, 32, outside, 24)
			if hash.ofKey == nil {
				assert.True(t, l.Released(index.Key{Namespace: "ns", Name: "unknown"}), "it may be another member's")
			}
		})
	}
}
