package apitest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/kubetyped/informer/apitest"
)

var widgetsBeta = schema.GroupVersionResource{Group: "example.com", Version: "v1beta1", Resource: "widgets"}

// convertWidget has v1beta1 call "count" what is "size" in v1.
func convertWidget(obj runtime.Object, to schema.GroupVersion) (runtime.Object, error) {
	u := obj.(*unstructured.Unstructured)
	from, into := "count", "size"
	if to.Version == "v1beta1" {
		from, into = into, from
	}
	spec, _, err := unstructured.NestedMap(u.Object, "spec")
	if err != nil || spec == nil {
		return u, err
	}
	if spec[from] == int64(13) {
		return nil, errors.New("13 cannot be converted")
	}
	spec[into] = spec[from]
	delete(spec, from)
	u.Object["spec"] = spec
	return u, nil
}

func widgetVersions(convert apitest.ConvertFunc) apitest.Option {
	return apitest.WithResources(
		apitest.Resource{
			GroupVersionResource: widgetsBeta, Kind: "Widget", Status: true, StorageVersion: "v1", Convert: convert,
			Fields: map[string]apitest.FieldFunc{"spec.count": func(obj runtime.Object) string {
				count, _, _ := unstructured.NestedInt64(obj.(*unstructured.Unstructured).Object, "spec", "count")
				return fmt.Sprint(count)
			}},
		},
		apitest.Resource{GroupVersionResource: widgets, Kind: "Widget", Status: true, StorageVersion: "v1"},
	)
}

func widget(version, name, field string, n int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/" + version, "kind": "Widget",
		"metadata": map[string]any{"name": name, "namespace": "default"}, "spec": map[string]any{field: n},
	}}
}

// shape says what a widget is like.
func shape(u *unstructured.Unstructured) string {
	return fmt.Sprint(u.GetAPIVersion(), " ", u.GetName(), " ", u.Object["spec"])
}

func TestVersionsOfOneResource(t *testing.T) {
	ctx := testContext(t)
	srv := apitest.Start(t, widgetVersions(convertWidget), apitest.WithAdmission("stored", func(_ context.Context, a *apitest.Admission) error {
		assert.Equal(t, "v1", a.Kind.Version)
		return nil
	}))
	v1 := dynamicClient(t, srv).Resource(widgets).Namespace("default")
	beta := dynamicClient(t, srv).Resource(widgetsBeta).Namespace("default")
	follow := func(r dynamic.ResourceInterface, options metav1.ListOptions) watch.Interface {
		options.ResourceVersion = "1"
		w, err := r.Watch(ctx, options)
		require.NoError(t, err)
		t.Cleanup(w.Stop)
		return w
	}
	ofV1, ofBeta := follow(v1, metav1.ListOptions{}), follow(beta, metav1.ListOptions{})
	ofTwo := follow(beta, metav1.ListOptions{FieldSelector: "spec.count=2"})
	told := func(w watch.Interface) string {
		e := next(t, w)
		return fmt.Sprint(e.Type, " ", shape(e.Object.(*unstructured.Unstructured)))
	}

	created, err := beta.Create(ctx, widget("v1beta1", "a", "count", 1), metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "example.com/v1beta1 a map[count:1]", shape(created))
	assert.Equal(t, "ADDED example.com/v1 a map[size:1]", told(ofV1))
	assert.Equal(t, "ADDED example.com/v1beta1 a map[count:1]", told(ofBeta))
	stored, err := v1.Get(ctx, "a", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, created.GetResourceVersion(), stored.GetResourceVersion())
	assert.Equal(t, created.GetUID(), stored.GetUID())

	created.Object["spec"] = map[string]any{"count": int64(2)}
	updated, err := beta.Update(ctx, created, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 2, updated.GetGeneration())
	assert.Equal(t, "MODIFIED example.com/v1 a map[size:2]", told(ofV1))
	assert.Equal(t, "ADDED example.com/v1beta1 a map[count:2]", told(ofTwo))
	_, err = v1.Update(ctx, stored, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsConflict(err), "%v", err)

	patched, err := beta.Patch(ctx, "a", types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec/count","value":3}]`), metav1.PatchOptions{})
	require.NoError(t, err)
	assert.Equal(t, "example.com/v1beta1 a map[count:3]", shape(patched))
	assert.Equal(t, "DELETED example.com/v1beta1 a map[count:2]", told(ofTwo))
	patched, err = beta.Patch(ctx, "a", types.MergePatchType, []byte(`{"status":{"ready":true}}`), metav1.PatchOptions{}, "status")
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"ready": true}, patched.Object["status"])

	require.NoError(t, srv.Create(ctx, widget("v1beta1", "b", "count", 2), widget("v1", "c", "size", 2)))
	list, err := beta.List(ctx, metav1.ListOptions{FieldSelector: "spec.count=2"})
	require.NoError(t, err)
	require.Len(t, list.Items, 2)
	assert.Equal(t, "example.com/v1beta1 c map[count:2]", shape(&list.Items[1]))
	require.NoError(t, beta.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "spec.count=2"}))
	require.NoError(t, beta.Delete(ctx, "a", metav1.DeleteOptions{}))
	list, err = v1.List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	assert.Empty(t, list.Items)

	_, err = beta.Apply(ctx, "a", widget("v1beta1", "a", "count", 1), metav1.ApplyOptions{FieldManager: "me"})
	assert.True(t, apierrors.IsBadRequest(err), "%v", err)
	assert.ErrorContains(t, err, "use example.com/v1")
}

func TestConversionThatFails(t *testing.T) {
	ctx := testContext(t)
	srv := apitest.Start(t, widgetVersions(convertWidget))
	beta := dynamicClient(t, srv).Resource(widgetsBeta).Namespace("default")
	w, err := beta.Watch(ctx, metav1.ListOptions{ResourceVersion: "1"})
	require.NoError(t, err)
	defer w.Stop()
	_, err = beta.Create(ctx, widget("v1beta1", "a", "count", 13), metav1.CreateOptions{})
	assert.True(t, apierrors.IsInternalError(err), "%v", err)
	assert.ErrorContains(t, err, "conversion of widgets.example.com a to example.com/v1: 13 cannot be converted")
	require.NoError(t, srv.Create(ctx, widget("v1", "a", "size", 13)))
	_, err = beta.Get(ctx, "a", metav1.GetOptions{})
	assert.True(t, apierrors.IsInternalError(err), "%v", err)
	_, err = beta.List(ctx, metav1.ListOptions{})
	assert.True(t, apierrors.IsInternalError(err), "%v", err)
	events := remaining(t, w)
	require.Len(t, events, 1)
	assert.Equal(t, watch.Error, events[0].Type)

	for name, convert := range map[string]apitest.ConvertFunc{
		"Nil":   func(runtime.Object, schema.GroupVersion) (runtime.Object, error) { return nil, nil },
		"Other": func(runtime.Object, schema.GroupVersion) (runtime.Object, error) { return pod("a"), nil },
		"Renamed": func(obj runtime.Object, _ schema.GroupVersion) (runtime.Object, error) {
			obj.(*unstructured.Unstructured).SetName("b")
			return obj, nil
		},
	} {
		srv := apitest.Start(t, widgetVersions(convert))
		err := srv.Create(ctx, widget("v1beta1", "a", "count", 1))
		assert.True(t, apierrors.IsInternalError(errors.Unwrap(err)), "%s: %v", name, err)
	}
}

func TestVersionsThatMakeNoSense(t *testing.T) {
	stored := apitest.Resource{GroupVersionResource: widgets, Kind: "Widget"}
	beta := apitest.Resource{GroupVersionResource: widgetsBeta, Kind: "Widget", StorageVersion: "v1", Convert: convertWidget}
	for want, resources := range map[string][]apitest.Resource{
		"not served":              {beta},
		"no other StorageVersion": {{GroupVersionResource: widgets, Kind: "Widget", Convert: convertWidget}},
		"no Convert":              {stored, {GroupVersionResource: widgetsBeta, Kind: "Widget", StorageVersion: "v1"}},
		"kind, scope or status":   {stored, {GroupVersionResource: widgetsBeta, Kind: "Widget", StorageVersion: "v1", Convert: convertWidget, Status: true}},
	} {
		_, err := apitest.NewServer(apitest.WithResources(resources...))
		assert.ErrorContains(t, err, want)
	}
}
