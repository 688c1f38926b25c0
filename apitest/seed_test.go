package apitest_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/apitest"
)

func TestSeedKeepsCopies(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t)
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

// TestSeedKeepsMetadata: an object may begin at any generation, and as one that is deleted and waits
// for its finalizers.
func TestSeedKeepsMetadata(t *testing.T) {
	ctx := testContext(t)
	deleted := pod("p")
	deleted.Finalizers, deleted.Generation = []string{"example.com/waits"}, 5
	deleted.DeletionTimestamp = new(metav1.Now().Rfc3339Copy())
	deleted.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "u"}}
	s := apitest.Start(t, apitest.WithObjects(deleted))
	pods := clientset(t, s, "").CoreV1().Pods("default")
	got, err := pods.Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	assert.True(t, deleted.DeletionTimestamp.Equal(got.DeletionTimestamp), "%v", got.DeletionTimestamp)
	assert.EqualValues(t, 5, got.Generation)
	assert.Equal(t, deleted.OwnerReferences, got.OwnerReferences)

	got.Finalizers = nil
	_, err = pods.Update(ctx, got, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = pods.Get(ctx, "p", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), "it has waited for nothing else: %v", err)
}

// TestSeedTerminatingNamespace: the server continues to empty it, as a cluster would.
func TestSeedTerminatingNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", DeletionTimestamp: new(metav1.Now().Rfc3339Copy())}}
		held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "held", Finalizers: []string{"example.com/waits"}}}
		s := apitest.Start(t, apitest.WithNamespaceLifecycle(), apitest.WithObjects(held, shop))
		client := clientset(t, s, "").CoreV1()
		synctest.Wait()
		maps := client.ConfigMaps("shop")
		_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late"}}, metav1.CreateOptions{})
		assert.True(t, apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause), "%v", err)
		_, err = maps.Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		synctest.Wait()
		_, err = client.Namespaces().Get(t.Context(), "shop", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
	})
}

func TestSeedRefuses(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t)
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
	assert.ErrorContains(t, s.Create(ctx, &network{}), "no resource for *apitest_test.network, which names no kind: describe its resource")
	assert.Error(t, s.Create(ctx, &unstructured.Unstructured{}))
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	assert.ErrorIs(t, s.Create(canceled, pod("z")), context.Canceled)
}

func TestSeedConverts(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t, apitest.WithResources(apitest.Resource{GroupVersionResource: widgets, Kind: "Widget"}))
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

// network is a custom resource without generated code.
type network struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		CIDR string `json:"cidr"`
		Size int64  `json:"size,omitempty"`
	} `json:"spec"`
}

// metadataless returns other metadata from its methods than its JSON contains.
type metadataless struct{ metav1.ObjectMeta }

func TestSeedStructs(t *testing.T) {
	ctx := testContext(t)
	networks := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "networks"}
	first := &network{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "first"}}
	first.Spec.CIDR, first.Spec.Size = "10.0.0.0/8", 1<<53+1
	s := apitest.Start(t, apitest.WithObjects(first),
		apitest.WithResources(
			apitest.Resource{GroupVersionResource: networks, Kind: "Network", Type: (*network)(nil)},
			apitest.Resource{GroupVersionResource: widgets, Kind: "Widget"},
		))
	client := dynamicClient(t, s).Resource(networks).Namespace("default")
	got, err := client.Get(ctx, "first", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "Network", got.GetKind())
	assert.Equal(t, map[string]any{"cidr": "10.0.0.0/8", "size": int64(1<<53 + 1)}, got.Object["spec"])
	assert.Empty(t, first.Kind, "the caller's object is left alone")

	first.Spec.CIDR = "10.0.0.0/16"
	require.NoError(t, s.Update(ctx, first))
	got, err = client.Get(ctx, "first", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "10.0.0.0/16", got.Object["spec"].(map[string]any)["cidr"])
	require.NoError(t, s.Delete(ctx, first))
	assert.True(t, apierrors.IsNotFound(s.Delete(ctx, first)))

	// The kind that an object names goes before that of its type.
	named := &network{TypeMeta: metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Widget"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "w"}}
	require.NoError(t, s.Create(ctx, named))
	_, err = dynamicClient(t, s).Resource(widgets).Namespace("default").Get(ctx, "w", metav1.GetOptions{})
	assert.NoError(t, err)
	named.Kind = "Gadget"
	assert.ErrorContains(t, s.Create(ctx, named), "no resource for *apitest_test.network, which is of the kind example.com/v1, Kind=Gadget")
	assert.ErrorContains(t, s.Create(ctx, &metadataless{metav1.ObjectMeta{Name: "a"}}), "look at its JSON tags")
}

// TestWithObjects: what cannot be stored is an error of NewServer.
func TestWithObjects(t *testing.T) {
	s := apitest.Start(t, apitest.WithObjects(pod("a")), apitest.WithObjects(pod("b")))
	list, err := clientset(t, s, "").CoreV1().Pods("default").List(testContext(t), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, list.Items, 2)
	_, err = apitest.NewServer(apitest.WithObjects(pod("a"), pod("a")))
	assert.True(t, apierrors.IsAlreadyExists(err), "%v", err)
}

func TestOptionsAreChecked(t *testing.T) {
	for name, opt := range map[string]apitest.Option{
		"nil":         nil,
		"nil scheme":  apitest.WithScheme(nil),
		"history":     apitest.WithHistory(0),
		"bookmarks":   apitest.WithBookmarks(-1),
		"no kind":     apitest.WithResources(apitest.Resource{GroupVersionResource: widgets}),
		"no resource": apitest.WithResources(apitest.Resource{Kind: "Widget"}),
		"twice":       apitest.WithResources(apitest.Resource{GroupVersionResource: widgets, Kind: "A"}, apitest.Resource{GroupVersionResource: widgets, Kind: "B"}),
		"one type twice": apitest.WithResources(apitest.Resource{GroupVersionResource: widgets, Kind: "A", Type: &network{}},
			apitest.Resource{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "bs"}, Kind: "B", Type: &network{}}),
		"no field":         apitest.WithFieldSelector(widgets, "", nil),
		"fields of nobody": apitest.WithFieldSelector(widgets, "spec.size", func(runtime.Object) string { return "" }),
	} {
		t.Run(name, func(t *testing.T) {
			s, err := apitest.NewServer(opt)
			assert.Error(t, err)
			assert.Nil(t, s)
		})
	}
}

func TestFieldSelectorOfACustomResource(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t,
		apitest.WithResources(apitest.Resource{GroupVersionResource: widgets, Kind: "Widget"}),
		apitest.WithFieldSelector(widgets, "spec.color", func(obj runtime.Object) string {
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
