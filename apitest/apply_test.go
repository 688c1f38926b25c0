package apitest_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/apitest"
)

// What real servers do as well is in the suite of conformance; here is what is this
// server's own.

// TestApplyToStoredObjects: objects stored without HTTP have no manager with a name.
func TestApplyToStoredObjects(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t, apitest.WithObjects(pod("p")))
	pods := clientset(t, s, "").CoreV1().Pods("default")
	apply := func(patch string, force bool) error {
		_, err := pods.Patch(ctx, "p", types.ApplyPatchType, []byte(patch), metav1.PatchOptions{FieldManager: "me", Force: &force})
		return err
	}
	const other = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"mine"}]}}`
	err := apply(other, false)
	require.True(t, apierrors.IsConflict(err), "%v", err)
	assert.ErrorContains(t, err, `conflict with "before-first-apply"`)
	require.NoError(t, apply(other, true))

	// A later update without HTTP takes fields from managers.
	got, err := pods.Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	got.Spec.Containers[0].Image = "theirs"
	got.ManagedFields = nil
	require.NoError(t, s.Update(ctx, got))
	err = apply(other, false)
	assert.ErrorContains(t, err, `conflict with "apitest"`)
	// What says itself who has which field is believed.
	got, err = pods.Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	entries := got.ManagedFields[:1]
	got.ManagedFields, got.Spec.Containers[0].Image = entries, "anybody's"
	require.NoError(t, s.Update(ctx, got))
	got, err = pods.Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, entries, got.ManagedFields)
}

// TestManagedFieldsByUserAgent: who names no field manager is known by the program.
func TestManagedFieldsByUserAgent(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t)
	for agent, manager := range map[string]string{"kubectl/v1.37 (linux)": "kubectl", "": "Go-http-client", "a\tb": "ab"} {
		header := http.Header{"Content-Type": {"application/json"}}
		if agent != "" {
			header.Set("User-Agent", agent)
		}
		response := do(t, ctx, s, http.MethodPost, "/api/v1/namespaces/default/configmaps", header, `{"metadata":{"generateName":"a-"},"data":{"k":"v"}}`)
		require.Equal(t, http.StatusCreated, response.StatusCode)
		var created metav1.PartialObjectMetadata
		require.NoError(t, json.NewDecoder(response.Body).Decode(&created))
		require.Len(t, created.ManagedFields, 1)
		assert.Equal(t, manager, created.ManagedFields[0].Manager)
	}
}

// TestUntrackedObjectsStaySo: updates of objects without managed fields add none.
func TestUntrackedObjectsStaySo(t *testing.T) {
	ctx := testContext(t)
	s := apitest.Start(t, apitest.WithObjects(pod("p")))
	got, err := clientset(t, s, "").CoreV1().Pods("default").Patch(ctx, "p", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	assert.Equal(t, "b", got.Labels["a"])
	assert.Empty(t, got.ManagedFields)
}
