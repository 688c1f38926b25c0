package rig

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// NewPod returns a pod on a node.
func NewPod(name, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{NodeName: node},
	}
}

// Serve starts a server with some pods and returns a client for it.
func Serve(t *testing.T, pods int, opts ...apitest.Option) (*apitest.Server, Client) {
	srv := apitest.Start(t, opts...)
	for i := range pods {
		require.NoError(t, srv.Create(t.Context(), NewPod(fmt.Sprintf("pod-%d", i), fmt.Sprintf("node-%d", i%3))))
	}
	client, err := NewClient(srv.Config())
	require.NoError(t, err)
	return srv, client
}

// Start runs an informer until the test ends, in real time, and returns a context
// for the test's own waits.
func Start[T index.Object](t *testing.T, informer *typed.Informer[T]) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(t, informer.Run(ctx)) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return ctx
}

// Record adds a handler that plays events back, and at the end of the test
// checks that each follows from the ones before.
func Record(t *testing.T, informer *typed.Informer[*corev1.Pod]) *history.History[*corev1.Pod] {
	h := history.New[*corev1.Pod]()
	_, err := informer.Handle(h)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, h.Err()) })
	return h
}

// CheckSame compares the informer with the server, object by object.
func CheckSame(ctx context.Context, t *testing.T, informer *typed.Informer[*corev1.Pod], client Client) {
	t.Helper()
	list, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.NoError(t, informer.WaitForResourceVersion(ctx, list.ResourceVersion))
	var want []*corev1.Pod
	for i := range list.Items {
		want = append(want, &list.Items[i])
	}
	assert.Empty(t, history.Diff("server", want, "cache", informer.List()))
}
