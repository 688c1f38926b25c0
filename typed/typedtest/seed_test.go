package typedtest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubetyped/informer/typed/typedtest"
)

func TestSeedKeepsCopies(t *testing.T) {
	ctx := testContext(t)
	s := typedtest.Start(t)
	mine := pod("p")
	mine.UID = "mine"
	mine.Status.Phase = corev1.PodRunning
	require.NoError(t, s.Create(ctx, mine))
	assert.Empty(t, mine.ResourceVersion, "the caller's object is left alone")
	mine.Spec.Containers[0].Image = "changed"

	pods := clientset(t, s, "").CoreV1().Pods("default")
	got, err := pods.Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "i", got.Spec.Containers[0].Image)
	assert.EqualValues(t, "mine", got.UID)
	assert.Equal(t, corev1.PodRunning, got.Status.Phase)
	assert.Equal(t, s.ResourceVersion(), got.ResourceVersion)

	mine.Status.Phase = corev1.PodFailed
	require.NoError(t, s.Update(ctx, mine))
	got, err = pods.Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, corev1.PodFailed, got.Status.Phase, "spec and status together")
	assert.Equal(t, "changed", got.Spec.Containers[0].Image)
	assert.EqualValues(t, 2, got.Generation)

	before := s.ResourceVersion()
	require.NoError(t, s.Update(ctx, mine))
	assert.Equal(t, before, s.ResourceVersion(), "nothing changed, nothing written")
	require.NoError(t, s.Delete(ctx, mine))
	_, err = pods.Get(ctx, "p", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
	assert.Equal(t, 0, s.Requests("create", "")+s.Requests("update", "")+s.Requests("delete", ""))
}

func TestSeedRefuses(t *testing.T) {
	ctx := testContext(t)
	s := typedtest.Start(t)
	require.NoError(t, s.Create(ctx, pod("p")))
	assert.True(t, apierrors.IsAlreadyExists(s.Create(ctx, pod("q"), pod("p"), pod("r"))))
	assert.True(t, apierrors.IsNotFound(s.Update(ctx, pod("r"))), "it stops at the first error")
	assert.NoError(t, s.Delete(ctx, pod("q")))
	assert.True(t, apierrors.IsNotFound(s.Delete(ctx, pod("q"))))
	stale := pod("p")
	stale.ResourceVersion = "1"
	assert.True(t, apierrors.IsConflict(s.Update(ctx, stale)))
	assert.True(t, apierrors.IsInvalid(s.Create(ctx, pod("No Name"))))
	assert.Error(t, s.Create(ctx, nil))
	assert.Error(t, s.Create(ctx, (*corev1.Pod)(nil)))
	assert.Error(t, s.Create(ctx, &metav1.Status{}))
	assert.Error(t, s.Create(ctx, &unstructured.Unstructured{}))
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	assert.ErrorIs(t, s.Create(canceled, pod("z")), context.Canceled)
}

func TestSeedConverts(t *testing.T) {
	ctx := testContext(t)
	s := typedtest.Start(t, typedtest.WithResources(typedtest.Resource{GroupVersionResource: widgets, Kind: "Widget"}))
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod("p"))
	require.NoError(t, err)
	loose := &unstructured.Unstructured{Object: content}
	loose.SetKind("Pod")
	loose.SetAPIVersion("v1")
	require.NoError(t, s.Create(ctx, loose))
	got, err := clientset(t, s, "").CoreV1().Pods("default").Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, pod("p").Spec.Containers, got.Spec.Containers)

	widget := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(3)}}}
	widget.SetGroupVersionKind(widgets.GroupVersion().WithKind("Widget"))
	widget.SetNamespace("default")
	widget.SetName("w")
	require.NoError(t, s.Create(ctx, widget))
	assert.True(t, apierrors.IsAlreadyExists(s.Create(ctx, widget)))
}

func TestOptionsAreChecked(t *testing.T) {
	for name, opt := range map[string]typedtest.Option{
		"nil":              nil,
		"nil scheme":       typedtest.WithScheme(nil),
		"history":          typedtest.WithHistory(0),
		"bookmarks":        typedtest.WithBookmarks(-1),
		"no kind":          typedtest.WithResources(typedtest.Resource{GroupVersionResource: widgets}),
		"no resource":      typedtest.WithResources(typedtest.Resource{Kind: "Widget"}),
		"twice":            typedtest.WithResources(typedtest.Resource{GroupVersionResource: widgets, Kind: "A"}, typedtest.Resource{GroupVersionResource: widgets, Kind: "B"}),
		"no field":         typedtest.WithFieldSelector(widgets, "", nil),
		"fields of nobody": typedtest.WithFieldSelector(widgets, "spec.size", func(runtime.Object) string { return "" }),
	} {
		t.Run(name, func(t *testing.T) {
			s, err := typedtest.NewServer(opt)
			assert.Error(t, err)
			assert.Nil(t, s)
		})
	}
}

func TestFieldSelectorOfACustomResource(t *testing.T) {
	ctx := testContext(t)
	s := typedtest.Start(t,
		typedtest.WithResources(typedtest.Resource{GroupVersionResource: widgets, Kind: "Widget"}),
		typedtest.WithFieldSelector(widgets, "spec.color", func(obj runtime.Object) string {
			color, _, _ := unstructured.NestedString(obj.(*unstructured.Unstructured).Object, "spec", "color")
			return color
		}))
	for i, color := range []string{"red", "blue", "red"} {
		widget := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"color": color}}}
		widget.SetGroupVersionKind(widgets.GroupVersion().WithKind("Widget"))
		widget.SetNamespace("default")
		widget.SetName(fmt.Sprintf("w%d", i))
		require.NoError(t, s.Create(ctx, widget))
	}
	client := dynamicClient(t, s)
	list, err := client.Resource(widgets).List(ctx, metav1.ListOptions{FieldSelector: "spec.color=red"})
	require.NoError(t, err)
	require.Len(t, list.Items, 2)
	assert.Equal(t, "w2", list.Items[1].GetName())
	_, err = client.Resource(widgets).List(ctx, metav1.ListOptions{FieldSelector: "spec.size=1"})
	assert.True(t, apierrors.IsBadRequest(err), "%v", err)
}
