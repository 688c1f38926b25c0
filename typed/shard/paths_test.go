package shard

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/source"
)

// TestPaths: nothing of what is reported of a part is lost on the way to the informer.
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
