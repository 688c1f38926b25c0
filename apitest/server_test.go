package apitest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/apitest"
)

// patience bounds what a test waits for; nothing waits that long unless it fails.
const patience = 20 * time.Second

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func clientset(t testing.TB, s *apitest.Server, contentType string) *kubernetes.Clientset {
	t.Helper()
	cfg := s.Config()
	cfg.ContentType = contentType
	c, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	return c
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

func next(t *testing.T, w watch.Interface) watch.Event {
	t.Helper()
	select {
	case e, ok := <-w.ResultChan():
		require.True(t, ok, "the watch has ended")
		return e
	case <-time.After(patience):
		require.Fail(t, "no watch event")
		return watch.Event{}
	}
}

func TestInformerFollowsTheServer(t *testing.T) {
	for _, contentType := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		t.Run(contentType, func(t *testing.T) {
			ctx := testContext(t)
			s := apitest.Start(t)
			client := clientset(t, s, contentType)
			for i := range 300 {
				require.NoError(t, s.Create(ctx, pod(fmt.Sprintf("p%03d", i))))
			}

			factory := informers.NewSharedInformerFactory(client, 0)
			pods := factory.Core().V1().Pods()
			updated := make(chan *corev1.Pod, 1)
			_, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
				UpdateFunc: func(_, obj any) { updated <- obj.(*corev1.Pod) },
			})
			require.NoError(t, err)
			stopping, stop := context.WithCancel(ctx)
			factory.Start(stopping.Done())
			t.Cleanup(func() { stop(); factory.Shutdown() })
			require.True(t, cache.WaitForCacheSync(ctx.Done(), pods.Informer().HasSynced))
			assert.Len(t, pods.Informer().GetStore().List(), 300)

			p := pod("p007")
			p.Labels = map[string]string{"new": "yes"}
			_, err = client.CoreV1().Pods("default").Update(ctx, p, metav1.UpdateOptions{})
			require.NoError(t, err)
			select {
			case got := <-updated:
				assert.Equal(t, "yes", got.Labels["new"])
				assert.Equal(t, s.ResourceVersion(), got.ResourceVersion)
			case <-ctx.Done():
				require.Fail(t, "no update")
			}
			assert.Zero(t, s.Requests("list", "pods"), "WatchList needs no list")
			assert.Equal(t, 1, s.Requests("watch", "pods"))
		})
	}
}
