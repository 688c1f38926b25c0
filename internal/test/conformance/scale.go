package conformance

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	applyautoscalingv1 "k8s.io/client-go/applyconfigurations/autoscaling/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"
)

// A scale shows the replicas of an object, and changes those that are wanted alone.
func testScale(c *check) {
	d := mustCreate(c, c.deployments, deployment("d"))
	scale, err := c.deployments.GetScale(c.ctx, "d", metav1.GetOptions{})
	require.NoError(c, err)
	assert.Equal(c, metav1.ObjectMeta{
		Name: "d", Namespace: c.ns, UID: d.UID, ResourceVersion: d.ResourceVersion, CreationTimestamp: d.CreationTimestamp,
	}, scale.ObjectMeta)
	assert.Equal(c, autoscalingv1.ScaleSpec{Replicas: 1}, scale.Spec)
	assert.Equal(c, autoscalingv1.ScaleStatus{Selector: "app=d"}, scale.Status)

	scale.Spec.Replicas, scale.Status.Replicas, scale.Labels = 3, 7, map[string]string{"a": "b"}
	scaled, err := c.deployments.UpdateScale(c.ctx, "d", scale, metav1.UpdateOptions{})
	require.NoError(c, err)
	got := mustGet(c, c.deployments, "d")
	assert.EqualValues(c, 3, scaled.Spec.Replicas)
	assert.Equal(c, got.ResourceVersion, scaled.ResourceVersion)
	assert.EqualValues(c, 3, *got.Spec.Replicas)
	assert.Zero(c, got.Status.Replicas)
	assert.Empty(c, got.Labels)
	assert.Equal(c, d.Generation+1, got.Generation)

	_, err = c.deployments.UpdateScale(c.ctx, "d", scale, metav1.UpdateOptions{})
	assert.True(c, apierrors.IsConflict(err), "an old version: %v", err)
	scaled.UID = "another"
	_, err = c.deployments.UpdateScale(c.ctx, "d", scaled, metav1.UpdateOptions{})
	assert.True(c, apierrors.IsConflict(err), "another UID: %v", err)
	blind := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: autoscalingv1.ScaleSpec{Replicas: -1}}
	_, err = c.deployments.UpdateScale(c.ctx, "d", blind, metav1.UpdateOptions{})
	assert.True(c, apierrors.IsInvalid(err), "a negative number: %v", err)
	mustCreate(c, c.deployments, deployment("other"))
	_, err = c.deployments.UpdateScale(c.ctx, "other", blind, metav1.UpdateOptions{})
	assert.True(c, apierrors.IsBadRequest(err), "another name: %v", err)
	blind.Spec.Replicas = 4
	_, err = c.deployments.UpdateScale(c.ctx, "d", blind, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
	require.NoError(c, err)
	assert.Equal(c, got, mustGet(c, c.deployments, "d"), "a dry run")
	_, err = c.deployments.UpdateScale(c.ctx, "d", blind, metav1.UpdateOptions{})
	require.NoError(c, err)
	assert.EqualValues(c, 4, *mustGet(c, c.deployments, "d").Spec.Replicas)

	_, err = c.deployments.GetScale(c.ctx, "absent", metav1.GetOptions{})
	assert.True(c, apierrors.IsNotFound(err), "%v", err)
	blind.Name = "absent"
	_, err = c.deployments.UpdateScale(c.ctx, "absent", blind, metav1.UpdateOptions{})
	assert.True(c, apierrors.IsNotFound(err), "%v", err)
}

// A scale is patched and applied, and its manager owns the replicas of the object.
func testScalePatched(c *check) {
	_, err := c.deployments.Create(c.ctx, deployment("d"), metav1.CreateOptions{FieldManager: "one"})
	require.NoError(c, err)
	for i, kind := range []types.PatchType{types.MergePatchType, types.StrategicMergePatchType, types.JSONPatchType} {
		data := `{"spec":{"replicas":` + string(rune('5'+i)) + `}}`
		if kind == types.JSONPatchType {
			data = `[{"op":"replace","path":"/spec/replicas","value":7}]`
		}
		err := c.client.AppsV1().RESTClient().Patch(kind).Namespace(c.ns).Resource("deployments").Name("d").SubResource("scale").
			Param("fieldManager", "two").Body([]byte(data)).Do(c.ctx).Error()
		require.NoError(c, err, kind)
		assert.EqualValues(c, 5+i, *mustGet(c, c.deployments, "d").Spec.Replicas, kind)
	}
	assert.ElementsMatch(c, []string{"one Update apps/v1 image", "two Update apps/v1 scale replicas"},
		managers(mustGet(c, c.deployments, "d"), "replicas", "image"))

	apply := applyautoscalingv1.Scale().WithSpec(applyautoscalingv1.ScaleSpec().WithReplicas(9)).WithName("d")
	_, err = c.deployments.ApplyScale(c.ctx, "d", apply, metav1.ApplyOptions{FieldManager: "three"})
	assert.True(c, apierrors.IsConflict(err), "%v", err)
	scale, err := c.deployments.ApplyScale(c.ctx, "d", apply, metav1.ApplyOptions{FieldManager: "three", Force: true})
	require.NoError(c, err)
	assert.EqualValues(c, 9, scale.Spec.Replicas)
	assert.ElementsMatch(c, []string{"one Update apps/v1 image", "three Apply apps/v1 scale replicas"},
		managers(mustGet(c, c.deployments, "d"), "replicas", "image"))
}

// Other kinds of Kubernetes with replicas have a scale, too.
func testScaleOfOtherKinds(c *check) {
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}}, Spec: pod("x").Spec}
	named, selector := metav1.ObjectMeta{Name: "x"}, &metav1.LabelSelector{MatchLabels: template.Labels}
	mustCreate(c, c.client.AppsV1().ReplicaSets(c.ns), &appsv1.ReplicaSet{
		ObjectMeta: named, Spec: appsv1.ReplicaSetSpec{Replicas: ptr.To[int32](2), Selector: selector, Template: template},
	})
	mustCreate(c, c.client.AppsV1().StatefulSets(c.ns), &appsv1.StatefulSet{
		ObjectMeta: named, Spec: appsv1.StatefulSetSpec{Replicas: ptr.To[int32](2), Selector: selector, Template: template, ServiceName: "x"},
	})
	mustCreate(c, c.client.CoreV1().ReplicationControllers(c.ns), &corev1.ReplicationController{
		ObjectMeta: named, Spec: corev1.ReplicationControllerSpec{Replicas: ptr.To[int32](2), Selector: template.Labels, Template: &template},
	})
	for _, get := range []func() (*autoscalingv1.Scale, error){
		func() (*autoscalingv1.Scale, error) {
			return c.client.AppsV1().ReplicaSets(c.ns).GetScale(c.ctx, "x", metav1.GetOptions{})
		},
		func() (*autoscalingv1.Scale, error) {
			return c.client.AppsV1().StatefulSets(c.ns).GetScale(c.ctx, "x", metav1.GetOptions{})
		},
		func() (*autoscalingv1.Scale, error) {
			return c.client.CoreV1().ReplicationControllers(c.ns).GetScale(c.ctx, "x", metav1.GetOptions{})
		},
	} {
		scale, err := get()
		require.NoError(c, err)
		assert.EqualValues(c, 2, scale.Spec.Replicas)
		assert.Equal(c, "app=x", scale.Status.Selector)
	}
}

// The scale of a custom resource is that of its spec and its status.
func testScaleCustom(c *check) {
	client, err := dynamic.NewForConfig(c.config)
	require.NoError(c, err)
	custom := client.Resource(c.rig.CustomResource).Namespace(c.ns)
	create := func(name string, spec map[string]any) {
		widget := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		widget.SetAPIVersion(c.rig.CustomResource.GroupVersion().String())
		widget.SetKind(c.rig.CustomKind)
		widget.SetName(name)
		_, err := custom.Create(c.ctx, widget, metav1.CreateOptions{})
		require.NoError(c, err)
	}
	create("w", map[string]any{"replicas": int64(2), "size": "big"})
	_, err = custom.Patch(c.ctx, "w", types.MergePatchType, []byte(`{"status":{"replicas":1,"selector":"a=b"}}`), metav1.PatchOptions{}, "status")
	require.NoError(c, err)
	scale, err := custom.Get(c.ctx, "w", metav1.GetOptions{}, "scale")
	require.NoError(c, err)
	assert.Equal(c, "Scale", scale.GetKind())
	assert.Equal(c, map[string]any{"replicas": int64(2)}, scale.Object["spec"])
	assert.Equal(c, map[string]any{"replicas": int64(1), "selector": "a=b"}, scale.Object["status"])

	require.NoError(c, unstructured.SetNestedField(scale.Object, int64(5), "spec", "replicas"))
	_, err = custom.Update(c.ctx, scale, metav1.UpdateOptions{FieldManager: "one"}, "scale")
	require.NoError(c, err)
	_, err = custom.Update(c.ctx, scale, metav1.UpdateOptions{}, "scale")
	assert.True(c, apierrors.IsConflict(err), "an old version: %v", err)
	_, err = custom.Patch(c.ctx, "w", types.MergePatchType, []byte(`{"spec":{"replicas":6}}`), metav1.PatchOptions{FieldManager: "two"}, "scale")
	require.NoError(c, err)
	got, err := custom.Get(c.ctx, "w", metav1.GetOptions{})
	require.NoError(c, err)
	assert.Equal(c, map[string]any{"replicas": int64(6), "size": "big"}, got.Object["spec"])
	assert.EqualValues(c, 3, got.GetGeneration())
	assert.Contains(c, managers(got, "replicas"), "two Update "+c.rig.CustomResource.GroupVersion().String()+" scale replicas")

	create("empty", map[string]any{"size": "small"})
	_, err = custom.Get(c.ctx, "empty", metav1.GetOptions{}, "scale")
	assert.True(c, apierrors.IsInternalError(err), "%v", err)
}
