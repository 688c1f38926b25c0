package fleet_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
	"github.com/kubetyped/informer/typed/view"
)

// packedMap is a ConfigMap as bytes, and its metadata.
type packedMap struct {
	metav1.ObjectMeta `json:"metadata"`
	kube.Packed[*corev1.ConfigMap]
}

func (m *packedMap) GetName() string                    { return m.ObjectMeta.Name }
func (m *packedMap) GetNamespace() string               { return m.ObjectMeta.Namespace }
func (m *packedMap) GetUID() types.UID                  { return m.ObjectMeta.UID }
func (m *packedMap) GetResourceVersion() string         { return m.ObjectMeta.ResourceVersion }
func (m *packedMap) GetDeletionTimestamp() *metav1.Time { return m.ObjectMeta.DeletionTimestamp }

// TestPackedObjects: packed objects come through shards, a fleet and a view with their bytes.
func TestPackedObjects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t)
		for i := range 20 {
			require.NoError(t, srv.Create(t.Context(), &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("map-%d", i)}, Data: map[string]string{"number": fmt.Sprint(i)},
			}))
		}
		clusters, err := fleet.NewClusters(fleet.Cluster{Name: "east", Config: srv.Config()})
		require.NoError(t, err)
		maps := typed.NewInformer(fleet.NewSource(clusters, func(c fleet.Cluster) source.Source[*packedMap] {
			return newShare(t, c, "one")
		}))
		last := typed.NewInformer[fleet.InCluster[*packedMap]](view.Filter(view.Of(maps), func(m fleet.InCluster[*packedMap]) bool { return m.GetName() != "map-7" }))
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { assert.NoError(t, maps.Run(ctx)) })
		running.Go(func() { assert.NoError(t, last.Run(ctx)) })
		defer running.Wait()
		defer cancel()
		time.Sleep(time.Minute)
		require.NoError(t, srv.Update(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "map-3"}, Data: map[string]string{"number": "new"},
		}))
		time.Sleep(time.Minute)
		require.Equal(t, 19, last.Len())
		numbers := map[index.Key]string{}
		for m := range last.All() {
			whole, err := m.Object.Object()
			require.NoError(t, err)
			numbers[index.KeyOf(m.Object)] = whole.Data["number"]
		}
		assert.Equal(t, "new", numbers[index.Key{Namespace: "default", Name: "map-3"}])
		assert.Equal(t, "19", numbers[index.Key{Namespace: "default", Name: "map-19"}])
	})
}
