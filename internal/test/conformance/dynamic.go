package conformance

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/restmapper"
)

func testMetadata(c *check) {
	client, err := metadata.NewForConfig(c.config)
	require.NoError(c, err)
	maps := client.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(c.ns)
	cm := c.create("a", map[string]string{"meta": "data"})

	got, err := maps.Get(c.ctx, "a", metav1.GetOptions{})
	require.NoError(c, err)
	assert.Equal(c, cm.UID, got.UID)
	assert.Equal(c, cm.Labels, got.Labels)
	list, err := maps.List(c.ctx, metav1.ListOptions{LabelSelector: "meta=data"})
	require.NoError(c, err)
	require.Len(c, list.Items, 1)
	assert.Equal(c, cm.ResourceVersion, list.Items[0].ResourceVersion)
	assert.NotEmpty(c, list.ResourceVersion)

	w := c.watchOf(maps, metav1.ListOptions{ResourceVersion: cm.ResourceVersion})
	b := c.create("b", nil)
	e := c.nextOf(w, watch.Added, "b", b.ResourceVersion)
	assert.IsType(c, &metav1.PartialObjectMetadata{}, e.Object)
}

func (c *check) custom() dynamic.ResourceInterface {
	c.Helper()
	if c.rig.CustomKind == "" {
		c.Skip("the rig has no custom resource")
	}
	client, err := dynamic.NewForConfig(c.config)
	require.NoError(c, err)
	return client.Resource(c.rig.CustomResource).Namespace(c.ns)
}

func (c *check) customObject(name string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(1)}}}
	obj.SetGroupVersionKind(c.rig.CustomResource.GroupVersion().WithKind(c.rig.CustomKind))
	obj.SetName(name)
	return obj
}

func testCustom(c *check) {
	customs := c.custom()
	created, err := customs.Create(c.ctx, c.customObject("a"), metav1.CreateOptions{})
	require.NoError(c, err)
	assert.EqualValues(c, 1, created.GetGeneration())
	assert.Equal(c, c.rig.CustomKind, created.GetKind())

	require.NoError(c, unstructured.SetNestedField(created.Object, int64(2), "spec", "size"))
	require.NoError(c, unstructured.SetNestedField(created.Object, "ready", "status", "phase"))
	updated, err := customs.Update(c.ctx, created, metav1.UpdateOptions{})
	require.NoError(c, err)
	assert.EqualValues(c, 2, updated.GetGeneration())
	assert.NotContains(c, updated.Object, "status")
	_, err = customs.Update(c.ctx, created, metav1.UpdateOptions{})
	assert.True(c, apierrors.IsConflict(err), "%v", err)

	require.NoError(c, unstructured.SetNestedField(updated.Object, "ready", "status", "phase"))
	updated, err = customs.UpdateStatus(c.ctx, updated, metav1.UpdateOptions{})
	require.NoError(c, err)
	assert.Equal(c, map[string]any{"phase": "ready"}, updated.Object["status"])
	assert.EqualValues(c, 2, updated.GetGeneration())

	updated.SetResourceVersion("")
	_, err = customs.Update(c.ctx, updated, metav1.UpdateOptions{})
	assert.True(c, apierrors.IsInvalid(err), "%v", err)

	patched := mustPatch(c, customs, "a", types.MergePatchType, `{"spec":{"size":3}}`)
	size, _, err := unstructured.NestedInt64(patched.Object, "spec", "size")
	require.NoError(c, err)
	assert.EqualValues(c, 3, size)
	_, err = customs.Patch(c.ctx, "a", types.StrategicMergePatchType, []byte(`{"spec":{"size":4}}`), metav1.PatchOptions{})
	assert.True(c, apierrors.IsUnsupportedMediaType(err), "%v", err)

	list, err := customs.List(c.ctx, metav1.ListOptions{})
	require.NoError(c, err)
	assert.Equal(c, c.rig.CustomKind+"List", list.GetKind())
	require.Len(c, list.Items, 1)
	assert.Equal(c, patched, &list.Items[0])
	require.NoError(c, customs.Delete(c.ctx, "a", metav1.DeleteOptions{}))
	_, err = customs.Get(c.ctx, "a", metav1.GetOptions{})
	assert.True(c, apierrors.IsNotFound(err), "%v", err)
}

// Metadata that cannot be read are refused, of custom resources as well.
func testCustomMetadata(c *check) {
	customs := c.custom()
	_, err := customs.Create(c.ctx, c.customObject("a"), metav1.CreateOptions{})
	require.NoError(c, err)
	for field, value := range map[string]any{
		"labels": map[string]any{"size": int64(1)}, "annotations": []any{"a"}, "finalizers": "example.com/waits", "ownerReferences": map[string]any{},
	} {
		obj := c.customObject("b")
		require.NoError(c, unstructured.SetNestedField(obj.Object, value, "metadata", field))
		_, err = customs.Create(c.ctx, obj, metav1.CreateOptions{})
		assert.True(c, apierrors.IsBadRequest(err), "%s of a create: %v", field, err)
		patch, err := obj.MarshalJSON()
		require.NoError(c, err)
		_, err = customs.Patch(c.ctx, "a", types.MergePatchType, patch, metav1.PatchOptions{})
		assert.True(c, apierrors.IsInvalid(err), "%s of a patch: %v", field, err)
	}
}

// Fields that metadata do not have are dropped, of custom resources as well.
func testCustomMetadataPruned(c *check) {
	customs := c.custom()
	obj := c.customObject("a")
	require.NoError(c, unstructured.SetNestedField(obj.Object, "L", "metadata", "size"))
	require.NoError(c, unstructured.SetNestedMap(obj.Object, map[string]any{}, "metadata", "labels"))
	created, err := customs.Create(c.ctx, obj, metav1.CreateOptions{})
	require.NoError(c, err)
	assert.NotContains(c, created.Object["metadata"], "size")
	assert.NotContains(c, created.Object["metadata"], "labels")
	require.NoError(c, unstructured.SetNestedField(created.Object, "L", "metadata", "size"))
	updated, err := customs.Update(c.ctx, created, metav1.UpdateOptions{})
	require.NoError(c, err)
	assert.NotContains(c, updated.Object["metadata"], "size")
	assert.Equal(c, created.GetResourceVersion(), updated.GetResourceVersion(), "nothing has changed")
	patched := mustPatch(c, customs, "a", types.MergePatchType, `{"metadata":{"size":"L","labels":{"a":"b"}}}`)
	assert.NotContains(c, patched.Object["metadata"], "size")
	assert.Equal(c, map[string]string{"a": "b"}, patched.GetLabels())
}

func testCustomWatch(c *check) {
	customs := c.custom()
	list, err := customs.List(c.ctx, metav1.ListOptions{})
	require.NoError(c, err)
	w := c.watchOf(customs, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	created, err := customs.Create(c.ctx, c.customObject("a"), metav1.CreateOptions{})
	require.NoError(c, err)
	e := c.nextOf(w, watch.Added, "a", created.GetResourceVersion())
	assert.Equal(c, created, e.Object)

	client, err := metadata.NewForConfig(c.config)
	require.NoError(c, err)
	got, err := client.Resource(c.rig.CustomResource).Namespace(c.ns).Get(c.ctx, "a", metav1.GetOptions{})
	require.NoError(c, err)
	assert.Equal(c, created.GetUID(), got.UID)
}

func testDiscovery(c *check) {
	version, err := c.client.Discovery().ServerVersion()
	require.NoError(c, err)
	assert.NotEmpty(c, version.GitVersion)
	for _, legacy := range []bool{false, true} {
		client := c.client.DiscoveryClient
		client.UseLegacyDiscovery = legacy
		mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
		mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "v1")
		require.NoError(c, err)
		assert.Equal(c, "deployments", mapping.Resource.Resource)
		assert.EqualValues(c, "namespace", mapping.Scope.Name())
		mapping, err = mapper.RESTMapping(schema.GroupKind{Kind: "Node"})
		require.NoError(c, err)
		assert.EqualValues(c, "root", mapping.Scope.Name())
		if c.rig.CustomKind != "" {
			mapping, err = mapper.RESTMapping(schema.GroupKind{Group: c.rig.CustomResource.Group, Kind: c.rig.CustomKind})
			require.NoError(c, err)
			assert.Equal(c, c.rig.CustomResource, mapping.Resource)
		}
	}
	for group, wanted := range map[string]map[string]schema.GroupVersionKind{
		"v1": {
			"pods/status": {Kind: "Pod"}, "pods/binding": {Kind: "Binding"}, "pods/eviction": {Group: "policy", Version: "v1", Kind: "Eviction"},
			"replicationcontrollers/scale": {Group: "autoscaling", Version: "v1", Kind: "Scale"},
		},
		"apps/v1": {"deployments/scale": {Group: "autoscaling", Version: "v1", Kind: "Scale"}},
	} {
		list, err := c.client.Discovery().ServerResourcesForGroupVersion(group)
		require.NoError(c, err)
		for _, r := range list.APIResources {
			if kind, ok := wanted[r.Name]; ok {
				assert.Equal(c, kind, schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}, r.Name)
				delete(wanted, r.Name)
			}
		}
		assert.Empty(c, wanted)
	}
	_, err = c.client.Discovery().ServerResourcesForGroupVersion("nobody.example.com/v1")
	assert.True(c, apierrors.IsNotFound(err), "%v", err)
}
