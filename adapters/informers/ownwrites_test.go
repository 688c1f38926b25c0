package informers_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters/informers"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed/kube"
)

// TestWithOwnWrites: listers have what was written when the write returns, and handlers are
// called once for each state, while the watch lags and afterwards.
func TestWithOwnWrites(t *testing.T) {
	for name, opts := range map[string][]informers.SharedInformerOption{
		"plain":     nil,
		"sharing":   {informers.WithDeduplication()},
		"transform": {informers.WithTransform(func(obj any) (any, error) { return obj, nil })},
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				srv := apitest.Start(t)
				writes := kube.NewWrites()
				client, err := kubernetes.NewForConfig(writes.Config(srv.Config()))
				require.NoError(t, err)
				factory := informers.NewSharedInformerFactoryWithOptions(client, 0, append(opts, informers.WithOwnWrites(writes))...)
				pods := factory.Core().V1().Pods()
				calls := make(chan string, 100)
				_, err = pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
					AddFunc:    func(obj any) { calls <- "add " + obj.(*corev1.Pod).ResourceVersion },
					UpdateFunc: func(_, obj any) { calls <- "update " + obj.(*corev1.Pod).ResourceVersion },
					DeleteFunc: func(obj any) { calls <- "delete " + obj.(*corev1.Pod).ResourceVersion },
				})
				require.NoError(t, err)
				ctx, cancel := context.WithCancel(context.Background())
				factory.StartWithContext(ctx)
				defer factory.Shutdown()
				defer cancel()
				require.NoError(t, factory.WaitForCacheSyncWithContext(ctx).Err)
				time.Sleep(time.Second)
				lag := srv.Inject(apitest.Fault{Lag: true})

				api, lister := client.CoreV1().Pods("default"), pods.Lister().Pods("default")
				made, err := api.Create(ctx, rig.NewPod("a", ""), metav1.CreateOptions{})
				require.NoError(t, err)
				got, err := lister.Get("a")
				require.NoError(t, err)
				assert.Equal(t, made.ResourceVersion, got.ResourceVersion)
				patched, err := api.Patch(ctx, "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{})
				require.NoError(t, err)
				got, err = lister.Get("a")
				require.NoError(t, err)
				assert.Equal(t, "y", got.Labels["x"])
				require.NoError(t, api.Delete(ctx, "a", metav1.DeleteOptions{}))
				_, err = lister.Get("a")
				assert.Error(t, err)

				lag.Remove()
				time.Sleep(time.Minute)
				synctest.Wait()
				close(calls)
				var told []string
				for call := range calls {
					told = append(told, call)
				}
				assert.Equal(t, []string{"add " + made.ResourceVersion, "update " + patched.ResourceVersion, "delete " + patched.ResourceVersion}, told)
				assert.Empty(t, writes.Status().LeftOut)
			})
		})
	}
}

// TestOwnWritesOfAnotherConfiguration: the informer ends, with an error in the log.
func TestOwnWritesOfAnotherConfiguration(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		rig.CatchErrors(t, func(err error) { assert.ErrorContains(t, err, "another configuration") })
		srv := apitest.Start(t)
		client, err := kubernetes.NewForConfig(srv.Config())
		require.NoError(t, err)
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithOwnWrites(kube.NewWrites()))
		pods := factory.Core().V1().Pods().Informer()
		factory.StartWithContext(t.Context())
		defer factory.Shutdown()
		time.Sleep(time.Minute)
		assert.False(t, pods.HasSynced())
		assert.True(t, pods.IsStopped())
	})
}
