package typed_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/typedtest"
)

func TestSmoke(t *testing.T) {
	srv, err := typedtest.NewServer()
	require.NoError(t, err)
	defer srv.Close()
	client := kubernetes.NewForConfigOrDie(srv.Config())
	smoke(t, client)
}
func TestSmokeFake(t *testing.T) { smoke(t, fake.NewClientset()) }

func smoke(t *testing.T, client kubernetes.Interface) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	p, err := client.CoreV1().Pods("default").Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}, Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "c", Image: "i"}}}}, metav1.CreateOptions{})
	require.NoError(t, err)
	pods := typed.NewInformer(typed.FromClient(client.CoreV1().Pods("")))
	byNode := index.New("node", func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} })
	require.NoError(t, pods.AddIndexes(byNode))
	added := make(chan string, 10)
	reg, err := pods.Handle(typed.HandlerFuncs[*corev1.Pod]{AddFunc: func(p *corev1.Pod, initial bool) { added <- p.Name }})
	require.NoError(t, err)
	done := make(chan error)
	rctx, stop := context.WithCancel(ctx)
	go func() { done <- pods.Run(rctx) }()
	require.NoError(t, pods.WaitForSync(ctx))
	require.NoError(t, reg.WaitForSync(ctx))
	require.Equal(t, "a", <-added)
	require.Len(t, byNode.Get("n1"), 1)
	p.Labels = map[string]string{"x": "y"}
	p, err = client.CoreV1().Pods("default").Update(ctx, p, metav1.UpdateOptions{})
	require.NoError(t, err)
	if p.ResourceVersion != "" {
		require.NoError(t, pods.WaitForResourceVersion(ctx, p.ResourceVersion))
	}
	t.Logf("%+v", pods.Status())
	stop()
	require.NoError(t, <-done)
	t.Logf("%+v", pods.Status())
}
