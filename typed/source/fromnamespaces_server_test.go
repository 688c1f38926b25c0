package source_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// TestNamespacesOfAServer follows a set of namespaces, of which one is forbidden
// for a while, and lists each as often as is needed.
func TestNamespacesOfAServer(t *testing.T) {
	t.Parallel()
	srv, client := rig.Serve(t, 0)
	create := func(namespace, name string) *corev1.Pod {
		pod := rig.NewPod(name, "n1")
		pod.Namespace = namespace
		created, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
		require.NoError(t, err)
		return created
	}
	for i := range 20 {
		create(fmt.Sprint("tenant-", i%4), fmt.Sprint("pod-", i))
	}
	forbidden := srv.Inject(apitest.Fault{Resource: "pods", Namespace: "tenant-1", Err: apierrors.NewForbidden(
		schema.GroupResource{Resource: "pods"}, "", errors.New("ask for more rights"))})

	failed := make(chan struct{}, 1)
	tenants := source.NewNamespaces("tenant-0", "tenant-1")
	all := source.FromNamespaces(tenants, func(namespace string) source.Source[*corev1.Pod] {
		return kube.FromClient(client.CoreV1().Pods(namespace), kube.WithBackoff(20*time.Millisecond, time.Second))
	})
	pods := typed.NewInformer(failing[*corev1.Pod]{all, failed})
	rig.Record(t, pods)
	ctx := rig.Start(t, pods)
	select {
	case <-failed:
	case <-ctx.Done():
		require.Fail(t, "nothing has failed")
	}
	err := pods.WaitForSync(ended(ctx))
	require.Error(t, err)
	assert.Regexp(t, "namespace tenant-1: (watch|list) pods: pods is forbidden: ask for more rights", err.Error(), "the first request asks for a list by a watch, the next one for a list")
	assert.Zero(t, pods.Len())
	forbidden.Remove()
	require.NoError(t, pods.WaitForSync(ctx))
	assert.Equal(t, 10, pods.Len())

	require.NoError(t, pods.WaitForResourceVersion(ctx, create("tenant-1", "first").ResourceVersion), "it is watched")

	before := srv.Requests("watch", "pods")
	require.NoError(t, tenants.Add("tenant-2"))
	last := create("tenant-0", "last")
	later := create("tenant-2", "last")
	events := pods.Events(ctx)
	for range events.All() {
		if _, ok := pods.Get(index.KeyOf(later)); ok {
			break
		}
	}
	require.NoError(t, pods.WaitForResourceVersion(ctx, later.ResourceVersion))
	_, ok := pods.Get(index.KeyOf(last))
	assert.True(t, ok)
	assert.Equal(t, 18, pods.Len())
	assert.Equal(t, before+1, srv.Requests("watch", "pods"), "nothing else was listed")

	tenants.Remove("tenant-0")
	for range events.All() {
		if len(pods.ListNamespace("tenant-0")) == 0 {
			break
		}
	}
	assert.Equal(t, 12, pods.Len())
}

// ended returns a context that has ended.
func ended(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

// failing is a source that signals when the informer knows that it has failed.
type failing[T index.Object] struct {
	source.Source[T]
	failed chan struct{} // has room for one
}

func (f failing[T]) Run(ctx context.Context, sink source.Sink[T]) error {
	return f.Source.Run(ctx, failingSink[T]{sink, f.failed})
}

type failingSink[T index.Object] struct {
	source.Sink[T]
	failed chan struct{}
}

func (f failingSink[T]) Report(err error) {
	f.Sink.Report(err)
	if err != nil {
		select {
		case f.failed <- struct{}{}:
		default:
		}
	}
}
