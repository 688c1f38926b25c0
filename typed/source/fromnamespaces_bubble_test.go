package source_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// TestNamespacesWaitForAHandler: all namespaces wait at once for a handler with Block that sleeps:
// in a bubble, the clock advances meanwhile.
func TestNamespacesWaitForAHandler(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		srv := apitest.Start(t)
		client, err := rig.NewClient(srv.Config())
		require.NoError(t, err)
		pods := typed.NewInformer(source.FromNamespaces(source.NewNamespaces("blue", "red"), func(namespace string) source.Source[*corev1.Pod] {
			return kube.FromClient(client.CoreV1().Pods(namespace))
		}))
		told := 0
		_, err = pods.Handle(typed.HandlerFuncs[*corev1.Pod]{AddFunc: func(*corev1.Pod, bool) {
			time.Sleep(time.Second)
			told++
		}}, typed.WithDelivery(typed.Block(1)))
		require.NoError(t, err)
		ctx := rig.Start(t, pods)
		require.NoError(t, pods.WaitForSync(ctx))
		begun := time.Now()
		for i := range 40 {
			pod := rig.NewPod(fmt.Sprint("pod-", i), "")
			pod.Namespace = []string{"blue", "red"}[i%2]
			require.NoError(t, srv.Create(ctx, pod))
		}
		time.Sleep(40 * time.Second)
		synctest.Wait()
		assert.Equal(t, 40, told)
		assert.Equal(t, 40*time.Second, time.Since(begun))
	})
}
