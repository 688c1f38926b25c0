package apitest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubetyped/informer/apitest"
)

// TestSchemeGrows starts servers before and after kinds are added to their scheme.
func TestSchemeGrows(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	_, err := apitest.NewServer(apitest.WithScheme(scheme), apitest.WithObjects(deployment))
	require.ErrorContains(t, err, "Deployment")

	require.NoError(t, appsv1.AddToScheme(scheme))
	srv := apitest.Start(t, apitest.WithScheme(scheme), apitest.WithObjects(deployment))
	_, err = clientset(t, srv, "").AppsV1().Deployments("default").Get(t.Context(), "web", metav1.GetOptions{})
	require.NoError(t, err)

	other := apitest.Start(t, apitest.WithObjects(deployment))
	list, err := clientset(t, other, "").Discovery().ServerResourcesForGroupVersion("batch/v1")
	require.NoError(t, err)
	assert.NotEmpty(t, list.APIResources, "the server has its own scheme")
}
