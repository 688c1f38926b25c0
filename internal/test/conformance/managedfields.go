package conformance

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/rest"
)

// managers returns who has set the fields of an object, and of some fields by whom
// they are set.
func managers(obj metav1.Object, fields ...string) []string {
	var found []string
	for _, entry := range obj.GetManagedFields() {
		line := fmt.Sprintf("%s %s %s %s", entry.Manager, entry.Operation, entry.APIVersion, entry.Subresource)
		for _, field := range fields {
			if strings.Contains(entry.FieldsV1.GetRawString(), `"f:`+field+`":`) {
				line += " " + field
			}
		}
		found = append(found, strings.Join(strings.Fields(line), " "))
	}
	return found
}

func testManagedFields(c *check) {
	d, err := c.deployments.Create(c.ctx, deployment("d"), metav1.CreateOptions{FieldManager: "one"})
	require.NoError(c, err)
	assert.Equal(c, []string{"one Update apps/v1 replicas image"}, managers(d, "replicas", "image", "status"))
	require.NotNil(c, d.ManagedFields[0].Time)

	d, err = c.deployments.Patch(c.ctx, "d", types.MergePatchType, []byte(`{"spec":{"replicas":2}}`), metav1.PatchOptions{FieldManager: "two"})
	require.NoError(c, err)
	assert.ElementsMatch(c, []string{"one Update apps/v1 image", "two Update apps/v1 replicas"}, managers(d, "replicas", "image"))

	d.Status.ObservedGeneration = 1
	d, err = c.deployments.UpdateStatus(c.ctx, d, metav1.UpdateOptions{FieldManager: "three"})
	require.NoError(c, err)
	assert.ElementsMatch(c, []string{"one Update apps/v1 image", "two Update apps/v1 replicas", "three Update apps/v1 status observedGeneration"},
		managers(d, "replicas", "image", "observedGeneration"))

	same, err := c.deployments.Update(c.ctx, d, metav1.UpdateOptions{FieldManager: "four"})
	require.NoError(c, err)
	assert.Equal(c, d, same, "who changes nothing manages nothing")
	without := d.DeepCopy()
	without.ManagedFields = nil
	same, err = c.deployments.Update(c.ctx, without, metav1.UpdateOptions{FieldManager: "four"})
	require.NoError(c, err)
	assert.Equal(c, d.ManagedFields, same.ManagedFields, "who leaves them out changes nothing")

	d = same
	*d.Spec.Replicas = 3
	d.Labels = map[string]string{"a": "b"}
	d, err = c.deployments.Update(c.ctx, d, metav1.UpdateOptions{FieldManager: "one"})
	require.NoError(c, err)
	assert.ElementsMatch(c, []string{"one Update apps/v1 replicas image labels", "three Update apps/v1 status"}, managers(d, "replicas", "image", "labels"),
		"a manager of nothing is gone")
	d, err = c.deployments.Patch(c.ctx, "d", types.JSONPatchType, []byte(`[{"op":"remove","path":"/metadata/labels/a"}]`), metav1.PatchOptions{FieldManager: "five"})
	require.NoError(c, err)
	assert.ElementsMatch(c, []string{"one Update apps/v1 image", "three Update apps/v1 status"}, managers(d, "image", "a"), "who removes a field manages nothing")
}

// Clients may take managers away, or all of them.
func testManagedFieldsChanged(c *check) {
	_, err := c.deployments.Create(c.ctx, deployment("d"), metav1.CreateOptions{FieldManager: "one"})
	require.NoError(c, err)
	patch := func(manager, data string) *appsv1.Deployment {
		d, err := c.deployments.Patch(c.ctx, "d", types.MergePatchType, []byte(data), metav1.PatchOptions{FieldManager: manager})
		require.NoError(c, err)
		return d
	}
	d := patch("two", `{"metadata":{"labels":{"a":"b"}}}`)
	require.Len(c, d.ManagedFields, 2)
	d.ManagedFields = d.ManagedFields[1:]
	left := managers(d)
	d, err = c.deployments.Update(c.ctx, d, metav1.UpdateOptions{FieldManager: "three"})
	require.NoError(c, err)
	assert.Equal(c, left, managers(d))

	d = patch("three", `{"metadata":{"managedFields":[{}]}}`)
	assert.Empty(c, d.ManagedFields)
	d = patch("three", `{"metadata":{"labels":{"a":"c"}}}`)
	assert.Empty(c, d.ManagedFields, "an object without managers gets none until something is applied")
	d, err = c.apply("d", "four", true, `"spec":{"replicas":4}`)
	require.NoError(c, err)
	assert.ElementsMatch(c, []string{"before-first-apply Update apps/v1", "four Apply apps/v1"}, managers(d))

	bad := d.DeepCopy()
	bad.ManagedFields[0].Operation = "Unheard"
	kept := mustUpdate(c, c.deployments, bad)
	assert.Equal(c, d.ManagedFields, kept.ManagedFields, "what nobody can read is left out")
}

// Without a name, the manager is named after the client's user agent.
func testManagedFieldsNames(c *check) {
	config := rest.CopyConfig(c.config)
	config.UserAgent = "controller/v1.2 (linux)"
	client, err := appsv1client.NewForConfig(config)
	require.NoError(c, err)
	d := mustCreate(c, client.Deployments(c.ns), deployment("d"))
	assert.Equal(c, []string{"controller Update apps/v1"}, managers(d))
	d.Labels = map[string]string{"a": "b"}
	for _, name := range []string{strings.Repeat("x", 129), "un\nprintable"} {
		_, err = client.Deployments(c.ns).Update(c.ctx, d, metav1.UpdateOptions{FieldManager: name})
		assert.True(c, apierrors.IsInvalid(err), "%v", err)
	}
}

func testManagedFieldsCustom(c *check) {
	customs := c.custom()
	wanted := c.customObject("a")
	wanted.Object["spec"] = map[string]any{"size": int64(1), "color": "red"}
	a, err := customs.Create(c.ctx, wanted, metav1.CreateOptions{FieldManager: "one"})
	require.NoError(c, err)
	version := a.GetAPIVersion()
	assert.Equal(c, []string{"one Update " + version + " size color"}, managers(a, "size", "color"))
	a.Object["spec"] = map[string]any{"size": int64(2), "color": "red"}
	a, err = customs.Update(c.ctx, a, metav1.UpdateOptions{FieldManager: "two"})
	require.NoError(c, err)
	assert.ElementsMatch(c, []string{"one Update " + version + " color", "two Update " + version + " size"}, managers(a, "size", "color"))
	a, err = customs.Patch(c.ctx, "a", types.MergePatchType, []byte(`{"status":{"ready":true}}`), metav1.PatchOptions{FieldManager: "one"}, "status")
	require.NoError(c, err)
	assert.ElementsMatch(c, []string{"one Update " + version + " color", "one Update " + version + " status ready", "two Update " + version + " size"},
		managers(a, "size", "color", "ready"))
}
