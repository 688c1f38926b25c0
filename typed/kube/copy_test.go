package kube_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/kube"
)

func newConditional(t *testing.T, w *kube.Writer[*tunnel]) *tunnel {
	t.Helper()
	created, err := w.Create(t.Context(), &tunnel{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", Labels: map[string]string{"a": "b"}}}, metav1.CreateOptions{})
	require.NoError(t, err)
	updated := kube.Copy(created)
	setReady(updated, metav1.ConditionFalse)
	updated, err = w.MergePatch(t.Context(), created, updated, metav1.PatchOptions{}, "status")
	require.NoError(t, err)
	return updated
}

func setReady(obj *tunnel, status metav1.ConditionStatus) {
	meta.SetStatusCondition(&obj.Status.Conditions, metav1.Condition{Type: "Ready", Status: status, Reason: "Test"})
}

// TestMergePatchOfSharedMemory: what was changed in both states is an error, and nothing
// else is that.
func TestMergePatchOfSharedMemory(t *testing.T) {
	t.Parallel()
	srv, sent := startForWrites(t)
	w := newWriter[*tunnel](t, sent.config(srv), kube.WithResource(tunnelResource))
	old := newConditional(t, w)

	changed := kube.Copy(old)
	shallow := *changed
	setReady(&shallow, metav1.ConditionTrue) // in the memory of changed
	before := sent.count()
	_, err := w.MergePatch(t.Context(), changed, &shallow, metav1.PatchOptions{}, "status")
	assert.ErrorContains(t, err, "patch tunnels.v1.example.com default/a: the old state is not what was received, and shares Status.Conditions with the updated one")
	assert.Equal(t, before+1, sent.count(), "the object is read again, and not written")
	shallow.Status.Phase = "Ready"
	_, err = w.MergePatch(t.Context(), changed, &shallow, metav1.PatchOptions{}, "status")
	assert.ErrorContains(t, err, "see kube.Copy", "a part of the changes would not be sent")
	_, err = w.MergePatch(t.Context(), changed, changed, metav1.PatchOptions{}, "status")
	assert.ErrorContains(t, err, "shares everything with the updated one")

	shallow = *old
	shallow.Status.Phase = "Pending"
	before = sent.count()
	got, err := w.MergePatch(t.Context(), old, &shallow, metav1.PatchOptions{}, "status")
	require.NoError(t, err, "what is shared is as it was received")
	assert.Equal(t, "Pending", got.Status.Phase)
	assert.Equal(t, before+2, sent.count())
	_, err = w.MergePatch(t.Context(), old, &shallow, metav1.PatchOptions{}, "status")
	assert.True(t, apierrors.IsConflict(err), "it is not there any more: %v", err)

	updated := kube.Copy(got)
	updated.Labels = got.Labels
	updated.Labels["a"] = "c"
	setReady(updated, metav1.ConditionTrue)
	before = sent.count()
	_, err = w.MergePatch(t.Context(), got, updated, metav1.PatchOptions{}, "status")
	require.NoError(t, err, "labels are none of the status")
	assert.Equal(t, before+1, sent.count())
	is, err := w.Get(t.Context(), index.KeyOf(old), metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, metav1.ConditionTrue, is.Status.Conditions[0].Status)
	assert.Equal(t, "b", is.Labels["a"])

	got = kube.Copy(is)
	updated = kube.Copy(is)
	updated.Labels, updated.Status.Conditions = got.Labels, got.Status.Conditions
	updated.Labels["a"] = "c"
	_, err = w.MergePatch(t.Context(), got, updated, metav1.PatchOptions{})
	assert.ErrorContains(t, err, "shares ObjectMeta.Labels")
}

// TestMergePatchOfSharedMemoryWithoutVersions: without versions, the old state is compared with what
// the server has, and a difference is no conflict, since it stays.
func TestMergePatchOfSharedMemoryWithoutVersions(t *testing.T) {
	t.Parallel()
	srv, sent := startForWrites(t)
	w := newWriter[*tunnel](t, sent.config(srv), kube.WithResource(tunnelResource))
	old := newConditional(t, w)
	for _, uid := range []types.UID{old.UID, ""} {
		old.ResourceVersion, old.UID = "", uid
		shallow := *old
		shallow.Status.Phase = "Pending" + string(uid)
		got, err := w.MergePatch(t.Context(), old, &shallow, metav1.PatchOptions{}, "status")
		require.NoError(t, err, "what is shared is as the server has it")
		assert.Equal(t, shallow.Status.Phase, got.Status.Phase)
		old.Status.Phase = got.Status.Phase

		whole := *old
		whole.Annotations = map[string]string{"uid": string(uid)}
		got, err = w.MergePatch(t.Context(), old, &whole, metav1.PatchOptions{})
		require.NoError(t, err)
		assert.Equal(t, whole.Annotations, got.Annotations)
		old.Annotations = got.Annotations

		changed := kube.Copy(old)
		shallow = *changed
		setReady(&shallow, metav1.ConditionTrue) // in the memory of changed
		_, err = w.MergePatch(t.Context(), changed, &shallow, metav1.PatchOptions{}, "status")
		assert.False(t, apierrors.IsConflict(err), "trying again does not help")
		assert.ErrorContains(t, err, "the old state is not what the server has now, and has no version, and shares Status.Conditions with the updated one")
	}
	old.UID = "another"
	shallow := *old
	shallow.Status.Phase = "Ready"
	_, err := w.MergePatch(t.Context(), old, &shallow, metav1.PatchOptions{}, "status")
	assert.True(t, apierrors.IsConflict(err), "it is another object: %v", err)
}

// TestMergePatchOfSharedUnstructured: an assignment of unstructured objects shares all of it.
func TestMergePatchOfSharedUnstructured(t *testing.T) {
	t.Parallel()
	srv, sent := startForWrites(t)
	newConditional(t, newWriter[*tunnel](t, sent.config(srv), kube.WithResource(tunnelResource)))
	w := newWriter[*unstructured.Unstructured](t, sent.config(srv), kube.WithResource(tunnelResource))
	old, err := w.Get(t.Context(), index.Key{Namespace: "default", Name: "a"}, metav1.GetOptions{})
	require.NoError(t, err)
	shallow := *old
	require.NoError(t, unstructured.SetNestedField(shallow.Object, "Ready", "status", "phase"))
	_, err = w.MergePatch(t.Context(), old, &shallow, metav1.PatchOptions{}, "status")
	assert.ErrorContains(t, err, "shares everything with the updated one")
}

func TestCopy(t *testing.T) {
	t.Parallel()
	obj := &tunnel{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}}
	setReady(obj, metav1.ConditionFalse)
	copied := kube.Copy(obj)
	assert.Equal(t, obj, copied)
	setReady(copied, metav1.ConditionTrue)
	copied.Labels["a"] = "c"
	assert.Equal(t, metav1.ConditionFalse, obj.Status.Conditions[0].Status)
	assert.Equal(t, "b", obj.Labels["a"])
}
