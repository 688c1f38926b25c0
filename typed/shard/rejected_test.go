package shard

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/source"
)

// TestRejectedObjectsOfAPart: a rejection is taken back when the object is deleted, can be stored,
// or is missing from the next list of a part, as the informer does not see these lists.
func TestRejectedObjectsOfAPart(t *testing.T) {
	key := index.Key{Namespace: "ns", Name: "a"}
	obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "1", ResourceVersion: "7"}}
	for name, then := range map[string]func(q source.Sink[*corev1.ConfigMap]){
		"deleted": func(q source.Sink[*corev1.ConfigMap]) { sinktest.Remove(q, key, index.Watched, "7") },
		"listed":  func(q source.Sink[*corev1.ConfigMap]) { q.Replace(source.List{}, "7") },
		"good":    func(q source.Sink[*corev1.ConfigMap]) { sinktest.Put(q, obj, "7") },
		"left":    func(q source.Sink[*corev1.ConfigMap]) { sinktest.RemoveNamespace(q, "ns", "7") },
	} {
		t.Run(name, func(t *testing.T) {
			g, err := newGroup(&leaseClient{leaseStore: newLeaseStore()}, "ns", "group", []Option{WithIdentity("a")})
			require.NoError(t, err)
			end := &sinktest.Recorder[*corev1.ConfigMap]{}
			p := newParts[*corev1.ConfigMap](NewSource(g, func() source.Source[*corev1.ConfigMap] { return nil }), end)
			p.follower = &follower{group: g, changed: make(chan struct{}, 1)}
			for r := range rangeCount {
				g.kept.add(uint8(r))
			}
			q := p.follow(context.Background(), false)[0]
			q.Replace(source.List{}, "5")
			q.Report(&source.RejectedError{Key: key, Err: errors.New("broken")})
			end.Take()
			then(q)
			_, errs := end.Take()
			assert.Contains(t, errs, error(&source.RejectedError{Key: key}))
			assert.Empty(t, q.rejected)
		})
	}
}
