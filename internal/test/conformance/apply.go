package conformance

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// apply applies a Deployment, given without kind and name, as a field manager.
func (c *check) apply(name, manager string, force bool, fields string, subresources ...string) (*appsv1.Deployment, error) {
	c.Helper()
	patch := fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":%q},%s}`, name, fields)
	return c.deployments.Patch(c.ctx, name, types.ApplyPatchType, []byte(patch),
		metav1.PatchOptions{FieldManager: manager, Force: &force}, subresources...)
}

const appliedSpec = `"spec":{"replicas":%d,"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},
	"spec":{"containers":[{"name":"a","image":"a:1","env":[{"name":"X","value":"1"}]}]}}}`

func testApply(c *check) {
	created, err := c.apply("d", "one", false, fmt.Sprintf(appliedSpec, 1))
	require.NoError(c, err)
	assert.EqualValues(c, 1, created.Generation)
	assert.NotEmpty(c, created.UID)
	require.Len(c, created.ManagedFields, 1)
	entry := created.ManagedFields[0]
	assert.Equal(c, "one Apply apps/v1 FieldsV1", fmt.Sprint(entry.Manager, " ", entry.Operation, " ", entry.APIVersion, " ", entry.FieldsType))
	assert.Contains(c, entry.FieldsV1.GetRawString(), `"f:replicas":{}`)

	same, err := c.apply("d", "one", false, fmt.Sprintf(appliedSpec, 1))
	require.NoError(c, err)
	assert.Equal(c, created.ResourceVersion, same.ResourceVersion, "what changes nothing is no write")

	// Lists are merged by their keys, and both managers have their part.
	const second = `"spec":{"template":{"spec":{"containers":[{"name":"b","image":"b:1"}]}}}`
	both, err := c.apply("d", "two", false, second)
	require.NoError(c, err)
	require.Len(c, both.Spec.Template.Spec.Containers, 2)
	assert.Equal(c, "a:1", both.Spec.Template.Spec.Containers[0].Image)
	assert.Len(c, both.ManagedFields, 2)

	// A field that a manager applies no longer is removed, and no other field.
	less, err := c.apply("d", "one", false, strings.Replace(fmt.Sprintf(appliedSpec, 1), `,"env":[{"name":"X","value":"1"}]`, "", 1))
	require.NoError(c, err)
	require.Len(c, less.Spec.Template.Spec.Containers, 2)
	assert.Empty(c, less.Spec.Template.Spec.Containers[0].Env)
	assert.EqualValues(c, 3, less.Generation)
}

func testApplyConflict(c *check) {
	_, err := c.apply("d", "one", false, fmt.Sprintf(appliedSpec, 1))
	require.NoError(c, err)
	_, err = c.apply("d", "two", false, `"spec":{"replicas":2}`)
	require.True(c, apierrors.IsConflict(err), "%v", err)
	var status apierrors.APIStatus
	require.True(c, errors.As(err, &status))
	require.NotNil(c, status.Status().Details)
	assert.Equal(c, []metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Message: `conflict with "one"`, Field: ".spec.replicas"}},
		status.Status().Details.Causes)

	agreed, err := c.apply("d", "two", false, `"spec":{"replicas":1}`)
	require.NoError(c, err, "the same value is no conflict")
	assert.Len(c, agreed.ManagedFields, 2)
	taken, err := c.apply("d", "two", true, `"spec":{"replicas":2}`)
	require.NoError(c, err)
	assert.EqualValues(c, 2, *taken.Spec.Replicas)
	_, err = c.apply("d", "one", false, fmt.Sprintf(appliedSpec, 1))
	require.True(c, apierrors.IsConflict(err), "%v", err)
	assert.ErrorContains(c, err, `conflict with "two"`)

	// An update takes fields as well.
	*taken.Spec.Replicas = 3
	_, err = c.deployments.Update(c.ctx, taken, metav1.UpdateOptions{FieldManager: "three"})
	require.NoError(c, err)
	_, err = c.apply("d", "two", false, `"spec":{"replicas":2}`)
	require.True(c, apierrors.IsConflict(err), "%v", err)
	assert.ErrorContains(c, err, `conflict with "three" using apps/v1: .spec.replicas`)
}

func testApplyRefused(c *check) {
	_, err := c.apply("d", "", false, fmt.Sprintf(appliedSpec, 1))
	assert.True(c, apierrors.IsInvalid(err), "no field manager: %v", err)
	_, err = c.apply("d", "one", false, `"status":{"replicas":1}`, "status")
	assert.True(c, apierrors.IsNotFound(err), "a status does not make an object: %v", err)
	created, err := c.apply("d", "one", false, fmt.Sprintf(appliedSpec, 1))
	require.NoError(c, err)

	patch := func(name, data string) error {
		_, err := c.deployments.Patch(c.ctx, name, types.ApplyPatchType, []byte(data), metav1.PatchOptions{FieldManager: "one"})
		return err
	}
	const head = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{`
	err = patch("d", head+`"name":"d","resourceVersion":"1"}}`)
	assert.True(c, apierrors.IsConflict(err), "another version: %v", err)
	err = patch("other", head+`"name":"other","uid":"`+string(created.UID)+`"},`+fmt.Sprintf(appliedSpec, 1)+`}`)
	assert.True(c, apierrors.IsConflict(err), "it does not exist: %v", err)
	err = patch("other", head+`"name":"d"},`+fmt.Sprintf(appliedSpec, 1)+`}`)
	assert.True(c, apierrors.IsBadRequest(err), "another name: %v", err)
	err = patch("d", head+`"name":"d","managedFields":[{"manager":"one"}]}}`)
	assert.True(c, apierrors.IsBadRequest(err), "managed fields: %v", err)
	err = patch("d", `{"apiVersion":"v1","kind":"Deployment","metadata":{"name":"d"}}`)
	assert.True(c, apierrors.IsBadRequest(err), "another version of the API: %v", err)
	err = patch("d", `not yaml: {`)
	assert.True(c, apierrors.IsBadRequest(err), "%v", err)
	err = patch("d", head+`"name":"d"},"spec":{"replicas":"three"}}`)
	assert.ErrorContains(c, err, "failed to create typed patch object")
	_, err = c.deployments.Patch(c.ctx, "d", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{Force: new(bool)})
	assert.True(c, apierrors.IsInvalid(err), "force: %v", err)
}

func testApplyStatus(c *check) {
	_, err := c.apply("d", "one", false, fmt.Sprintf(appliedSpec, 1)+`,"status":{"observedGeneration":9}`)
	require.NoError(c, err)
	d, err := c.apply("d", "controller", false, `"spec":{"replicas":5},"status":{"observedGeneration":3}`, "status")
	require.NoError(c, err)
	assert.EqualValues(c, 3, d.Status.ObservedGeneration)
	assert.EqualValues(c, 1, *d.Spec.Replicas, "a status alone")
	require.Len(c, d.ManagedFields, 2)
	subresources := map[string]string{}
	for _, entry := range d.ManagedFields {
		subresources[entry.Manager] = entry.Subresource
		assert.Equal(c, entry.Subresource == "status", strings.Contains(entry.FieldsV1.GetRawString(), "f:status"), "%s", entry.FieldsV1.GetRawString())
	}
	assert.Equal(c, map[string]string{"one": "", "controller": "status"}, subresources)
}

func testApplyCustom(c *check) {
	client := c.custom()
	apply := func(manager string, force bool, spec map[string]any) (*unstructured.Unstructured, error) {
		obj := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		obj.SetGroupVersionKind(c.rig.CustomResource.GroupVersion().WithKind(c.rig.CustomKind))
		obj.SetName("a")
		return client.Apply(c.ctx, "a", obj, metav1.ApplyOptions{FieldManager: manager, Force: force})
	}
	_, err := apply("one", false, map[string]any{"size": int64(1), "tags": []any{"a"}})
	require.NoError(c, err)
	_, err = apply("two", false, map[string]any{"color": "red"})
	require.NoError(c, err)
	_, err = apply("two", false, map[string]any{"color": "red", "tags": []any{"a", "b"}})
	assert.True(c, apierrors.IsConflict(err), "a list is one field: %v", err)
	got, err := apply("one", false, map[string]any{"size": int64(2)})
	require.NoError(c, err)
	assert.Equal(c, map[string]any{"size": int64(2), "color": "red"}, got.Object["spec"])
	got, err = apply("two", true, map[string]any{"size": int64(3)})
	require.NoError(c, err)
	assert.Equal(c, map[string]any{"size": int64(3)}, got.Object["spec"])
}

// The finalizers and owners of a custom resource are merged one by one, although its schema says
// nothing about them.
func testApplyCustomMetadata(c *check) {
	client := c.custom()
	apply := func(manager string, metadata map[string]any) *unstructured.Unstructured {
		metadata["name"] = "a"
		obj := &unstructured.Unstructured{Object: map[string]any{"metadata": metadata}}
		obj.SetGroupVersionKind(c.rig.CustomResource.GroupVersion().WithKind(c.rig.CustomKind))
		got, err := client.Apply(c.ctx, "a", obj, metav1.ApplyOptions{FieldManager: manager})
		require.NoError(c, err)
		return got
	}
	owner := func(uid string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": uid, "uid": uid}
	}
	apply("one", map[string]any{"finalizers": []any{"example.com/one"}, "ownerReferences": []any{owner("one")}})
	got := apply("two", map[string]any{"finalizers": []any{"example.com/two"}, "ownerReferences": []any{owner("two")}})
	assert.ElementsMatch(c, []string{"example.com/one", "example.com/two"}, got.GetFinalizers())
	assert.Len(c, got.GetOwnerReferences(), 2)
	got = apply("one", map[string]any{"finalizers": []any{}})
	assert.Equal(c, []string{"example.com/two"}, got.GetFinalizers())
	assert.Len(c, got.GetOwnerReferences(), 1)
	apply("two", map[string]any{})
}
