package shard_test

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

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/shard"
	"github.com/kubetyped/informer/typed/source"
)

// TestOwnWrites: however many watches a member runs, it sees its own write in at most twice the
// time in which a program without shards does.
func TestOwnWrites(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		srv := apitest.Start(t)
		for i := range 200 {
			require.NoError(t, srv.Create(t.Context(), configMap(i)))
		}
		l := &ledger{at: map[index.Key]string{}, seen: map[index.Key]map[string]bool{}}
		alone := typed.NewInformer(ignoring(srv)())
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { assert.NoError(t, alone.Run(ctx)) })
		defer running.Wait()
		defer cancel()
		var others []*replica
		for i := range 4 {
			others = append(others, start(t, srv, l, fmt.Sprint("b", i), shard.UID(), obeying))
		}
		time.Sleep(time.Minute)
		a := start(t, srv, l, "a", shard.UID(), obeying)
		time.Sleep(time.Minute)
		for _, other := range others[:2] { // ranges come, each time with their own watch
			require.NoError(t, other.stop())
			time.Sleep(30 * time.Second)
		}
		synctest.Wait()
		srv.Inject(apitest.Fault{Resource: "configmaps", Latency: 20 * time.Millisecond})
		client, err := rig.NewClient(srv.Config())
		require.NoError(t, err)
		wait := func(maps *typed.Informer[*corev1.ConfigMap], key index.Key, version string) time.Duration {
			begin := time.Now()
			require.NoError(t, maps.WaitForKeyVersion(t.Context(), key, version))
			return time.Since(begin)
		}
		for _, obj := range a.maps.List()[:10] {
			obj = obj.DeepCopy()
			obj.Data = map[string]string{"write": "own"}
			var took [2]time.Duration
			for i, maps := range []*typed.Informer[*corev1.ConfigMap]{alone, a.maps} {
				obj.Data["by"] = fmt.Sprint(i)
				obj, err = client.CoreV1().ConfigMaps(obj.Namespace).Update(t.Context(), obj, metav1.UpdateOptions{})
				require.NoError(t, err)
				took[i] = wait(maps, index.KeyOf(obj), obj.ResourceVersion)
				got, ok := maps.Get(index.KeyOf(obj))
				require.True(t, ok)
				assert.Equal(t, obj.ResourceVersion, got.ResourceVersion)
			}
			assert.LessOrEqual(t, took[1], 2*took[0])
			time.Sleep(7 * time.Second)
		}
	})
}

// TestShardsRefuseWrites: an own write may come before the watch has its version, and shards hand
// objects on by their versions.
func TestShardsRefuseWrites(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		srv := apitest.Start(t)
		writes := kube.NewWrites()
		group, err := shard.New(srv.Config(), "kube-system", "maps", shard.WithIdentity("a"))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- group.Run(ctx) }()
		config := writes.Config(srv.Config())
		err = typed.NewInformer(shard.NewSource(group, func() source.Source[*corev1.ConfigMap] {
			return kube.FromREST[*corev1.ConfigMap](config, kube.WithWrites(writes))
		})).Run(ctx)
		assert.ErrorContains(t, err, "WithWrites: a shard hands objects on by their versions; use Expectations")
		cancel()
		<-ended
	})
}
