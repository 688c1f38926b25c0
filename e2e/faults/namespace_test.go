package faults

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/kubernetes/pkg/controller/namespace/deletion"
)

// TestNamespaceDeleted deletes a namespace with everything in it, and makes it
// again.
func TestNamespaceDeleted(t *testing.T) {
	t.Parallel()
	namespace := server.Namespace(t)
	s := newScene[*corev1.ConfigMap](t, newConfigMaps(namespace))
	s.watch(server.Config())
	s.writes(writeRate)

	client := kubernetes.NewForConfigOrDie(server.Config())
	namespaces := client.CoreV1().Namespaces()
	require.NoError(t, namespaces.Delete(s.ctx, namespace, metav1.DeleteOptions{}))
	if server.Own() != nil {
		require.NoError(t, deleteContent(s.ctx, client, namespace))
	}
	s.until("the namespace is gone", func() bool {
		_, err := namespaces.Get(s.ctx, namespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	s.until("the informers have seen the deletions", func() bool {
		return s.observers[0].informer.Len()+s.observers[1].informer.Len() == 0
	})
	_, err := namespaces.Create(s.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	require.NoError(t, err)
	s.writes(writeRate)
	s.finish("namespace deleted with everything in it", 1)
}

// deleteContent does the work of the namespace controller, which a cluster that the tests start
// does not run, by the controller's own code.
func deleteContent(ctx context.Context, client *kubernetes.Clientset, namespace string) error {
	objects, err := metadata.NewForConfig(server.Config())
	if err != nil {
		return err
	}
	deleter := deletion.NewNamespacedResourcesDeleter(ctx, client.CoreV1().Namespaces(), objects,
		client.CoreV1(), client.Discovery().ServerPreferredNamespacedResources, corev1.FinalizerKubernetes)
	for {
		err := deleter.Delete(ctx, namespace)
		if remaining := (*deletion.ResourcesRemainingError)(nil); !errors.As(err, &remaining) {
			return err
		}
	}
}
