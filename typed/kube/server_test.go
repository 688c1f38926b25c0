package kube_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// A test of this file runs an informer on a server, in real time.

// TestFakeClient runs an informer on a fake clientset, which cannot stream lists.
func TestFakeClient(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(rig.NewPod("a", "n1"))
	pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods("")))
	events := make(chan typed.Event[*corev1.Pod], 10)
	_, err := pods.Handle(typed.HandlerFuncs[*corev1.Pod]{
		AddFunc:    func(p *corev1.Pod, initial bool) { events <- typed.Event[*corev1.Pod]{Type: index.Added, New: p} },
		UpdateFunc: func(_, p *corev1.Pod) { events <- typed.Event[*corev1.Pod]{Type: index.Updated, New: p} },
	})
	require.NoError(t, err)
	ctx := rig.Start(t, pods)
	require.NoError(t, pods.WaitForSync(ctx))
	assert.Equal(t, "a", (<-events).New.Name)
	_, err = client.CoreV1().Pods("default").Update(ctx, rig.NewPod("a", "n2"), metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "n2", (<-events).New.Spec.NodeName)
}

// TestFakeClientHasNoVersions: what waits for a version says so, and does not wait.
func TestFakeClientHasNoVersions(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods("")))
	ctx := rig.Start(t, pods)
	require.NoError(t, pods.WaitForSync(ctx))
	created, err := client.CoreV1().Pods("default").Create(ctx, rig.NewPod("a", "n1"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err1 := pods.ExpectVersion(created.ResourceVersion)
	_, err2 := pods.ExpectDeleted(created)
	for _, err := range []error{pods.WaitForResourceVersion(ctx, created.ResourceVersion), err1, err2, pods.WaitForDeletion(ctx, created)} {
		assert.ErrorContains(t, err, "objects of fake clientsets have none; those of the API server in package apitest do")
	}
}
