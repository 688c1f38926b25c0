package apitest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kubernetes "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubetyped/informer/apitest"
)

// TestGenerationOfAStatus: without a status subresource, the status of a custom resource is a
// field as any other.
func TestGenerationOfAStatus(t *testing.T) {
	for _, subresource := range []bool{false, true} {
		ctx := testContext(t)
		srv := apitest.Start(t, apitest.WithResources(apitest.Resource{GroupVersionResource: widgets, Kind: "Widget", Status: subresource}))
		client := dynamicClient(t, srv).Resource(widgets).Namespace("default")
		widget := &unstructured.Unstructured{Object: map[string]any{}}
		widget.SetGroupVersionKind(widgets.GroupVersion().WithKind("Widget"))
		widget.SetName("w")
		_, err := client.Create(ctx, widget, metav1.CreateOptions{})
		require.NoError(t, err)
		var of []string
		wanted := int64(2)
		if subresource {
			of, wanted = []string{"status"}, 1
		}
		patched, err := client.Patch(ctx, "w", types.MergePatchType, []byte(`{"status":{"ready":true}}`), metav1.PatchOptions{}, of...)
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"ready": true}, patched.Object["status"])
		assert.Equal(t, wanted, patched.GetGeneration())
	}
}

// ownKind is a type that the program has added to client-go's scheme.
type ownKind struct{ corev1.ConfigMap }

func init() {
	kubernetes.Scheme.AddKnownTypeWithName(widgets.GroupVersion().WithKind("Own"), &ownKind{})
}

// TestCustomResourcesOfTheScheme: a Go type does not make a custom resource one of Kubernetes, not
// even one in client-go's scheme.
func TestCustomResourcesOfTheScheme(t *testing.T) {
	ctx := testContext(t)
	scheme := runtime.NewScheme()
	kind := widgets.GroupVersion().WithKind("Widget")
	scheme.AddKnownTypeWithName(kind, &corev1.ConfigMap{})
	scheme.AddKnownTypeWithName(kind.GroupVersion().WithKind("WidgetList"), &corev1.ConfigMapList{})
	client := dynamicClient(t, apitest.Start(t, apitest.WithScheme(scheme))).Resource(widgets).Namespace("default")
	widget := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"k": "v"}}}
	widget.SetGroupVersionKind(kind)
	widget.SetName("w")
	created, err := client.Create(ctx, widget, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 1, created.GetGeneration())
	patched, err := client.Patch(ctx, "w", types.MergePatchType, []byte(`{"data":{"k":"w"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 2, patched.GetGeneration())
	_, err = client.Patch(ctx, "w", types.StrategicMergePatchType, []byte(`{"data":{"k":"x"}}`), metav1.PatchOptions{})
	assert.True(t, apierrors.IsUnsupportedMediaType(err), "%v", err)
	_, err = client.Update(ctx, widget, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsInvalid(err), "without a version: %v", err)
}
