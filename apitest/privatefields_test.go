package apitest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/apitest"
)

// appointment contains fields that are not exported, as messages of protobuf do.
type appointment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              appointmentSpec `json:"spec"`
	size              int
}

type appointmentSpec struct {
	At     time.Time `json:"at"`
	Guests []string  `json:"guests,omitempty"`
	cached *int
}

func (a *appointment) DeepCopyObject() runtime.Object {
	out := *a
	a.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.size, out.Spec.cached = out.size+1, new(out.size)
	return &out
}

type appointmentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []appointment `json:"items"`
}

func (l *appointmentList) DeepCopyObject() runtime.Object {
	out := *l
	return &out
}

// TestUnexportedFields: objects with such fields are compared as their JSON is.
func TestUnexportedFields(t *testing.T) {
	ctx := testContext(t)
	scheme := runtime.NewScheme()
	kind := widgets.GroupVersion().WithKind("Widget")
	scheme.AddKnownTypeWithName(kind, &appointment{})
	scheme.AddKnownTypeWithName(kind.GroupVersion().WithKind("WidgetList"), &appointmentList{})
	client := dynamicClient(t, apitest.Start(t, apitest.WithScheme(scheme))).Resource(widgets).Namespace("default")
	widget := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"at": "2026-01-01T10:00:00Z"}}}
	widget.SetGroupVersionKind(kind)
	widget.SetName("w")
	created, err := client.Create(ctx, widget, metav1.CreateOptions{})
	require.NoError(t, err)
	same, err := client.Update(ctx, created, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, created, same, "an update that changes nothing is no write")
	patched, err := client.Patch(ctx, "w", types.MergePatchType, []byte(`{"spec":{"at":"2026-01-01T11:00:00Z"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 2, patched.GetGeneration())
	patched, err = client.Patch(ctx, "w", types.MergePatchType, []byte(`{"metadata":{"finalizers":["example.com/waits"]}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 2, patched.GetGeneration())
	require.NoError(t, client.Delete(ctx, "w", metav1.DeleteOptions{}))
	marked, err := client.Get(ctx, "w", metav1.GetOptions{})
	require.NoError(t, err)
	assert.NotNil(t, marked.GetDeletionTimestamp())
}
