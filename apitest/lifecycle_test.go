package apitest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/apitest"
)

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// in returns a Pod in a namespace.
func in(namespace string, p *corev1.Pod) *corev1.Pod {
	p.Namespace = namespace
	return p
}

func TestNamespaceIsDeletedWithItsObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held, running := in("shop", pod("held")), in("shop", pod("running"))
		held.Finalizers = []string{"example.com/hold"}
		running.Spec.NodeName = "node"
		srv := apitest.Start(t, apitest.WithNamespaceLifecycle(), apitest.WithObjects(
			namespace("shop"), namespace("other"), in("shop", pod("p")), held, running, in("other", pod("p"))))
		client := clientset(t, srv, "")
		left := func() (names []string) {
			synctest.Wait()
			pods, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			for _, p := range pods.Items {
				names = append(names, p.Namespace+"/"+p.Name)
			}
			return names
		}
		require.NoError(t, client.CoreV1().Namespaces().Delete(t.Context(), "shop", metav1.DeleteOptions{}))
		assert.Equal(t, []string{"other/p", "shop/held", "shop/running"}, left())
		require.NoError(t, srv.Create(t.Context(), in("shop", pod("late"))), "without HTTP")
		assert.NotContains(t, left(), "shop/late")
		require.NoError(t, srv.Delete(t.Context(), running))
		assert.Equal(t, []string{"other/p", "shop/held"}, left())
		_, err := client.CoreV1().Namespaces().Get(t.Context(), "shop", metav1.GetOptions{})
		require.NoError(t, err, "it is not empty")
		_, err = client.CoreV1().Pods("shop").Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		assert.Equal(t, []string{"other/p"}, left())
		_, err = client.CoreV1().Namespaces().Get(t.Context(), "shop", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "%v", err)

		_, err = client.CoreV1().Namespaces().Create(t.Context(), namespace("shop"), metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = client.CoreV1().Pods("shop").Create(t.Context(), in("shop", pod("p")), metav1.CreateOptions{})
		assert.NoError(t, err, "a namespace of the same name is another one")
		require.NoError(t, srv.Delete(t.Context(), namespace("shop"), namespace("other")))
		assert.Empty(t, left())
		time.Sleep(time.Hour)
	})
}

func TestSystemNamespaces(t *testing.T) {
	own := namespace("default")
	own.Labels = map[string]string{"own": "yes"}
	srv := apitest.Start(t, apitest.WithNamespaceLifecycle(), apitest.WithObjects(own))
	list, err := clientset(t, srv, "").CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	var names []string
	for _, ns := range list.Items {
		names = append(names, ns.Name)
		assert.Equal(t, corev1.NamespaceActive, ns.Status.Phase)
		assert.Equal(t, ns.Name, ns.Labels[corev1.LabelMetadataName])
	}
	assert.Equal(t, []string{"default", "kube-node-lease", "kube-public", "kube-system"}, names)
	assert.Equal(t, "yes", list.Items[0].Labels["own"])
}

func TestNamespacesMustBeServed(t *testing.T) {
	_, err := apitest.NewServer(apitest.WithScheme(runtime.NewScheme()), apitest.WithNamespaceLifecycle())
	assert.ErrorContains(t, err, "namespaces, which are not served")
}

func TestObjectsNeedNoNamespaceByDefault(t *testing.T) {
	srv := apitest.Start(t)
	pods := clientset(t, srv, "").CoreV1().Pods("nowhere")
	_, err := pods.Create(t.Context(), in("nowhere", pod("p")), metav1.CreateOptions{})
	require.NoError(t, err)
	namespaces := clientset(t, srv, "").CoreV1().Namespaces()
	_, err = namespaces.Create(t.Context(), namespace("nowhere"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, namespaces.Delete(t.Context(), "nowhere", metav1.DeleteOptions{}))
	_, err = namespaces.Get(t.Context(), "nowhere", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
	_, err = pods.Get(t.Context(), "p", metav1.GetOptions{})
	assert.NoError(t, err)
}
