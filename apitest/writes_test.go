package apitest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"

	"github.com/kubetyped/informer/apitest"
)

// TestPatchOfAnotherUID: a patch with the UID of another object is invalid, by which controllers
// know that their object was created again, and an update with it is a conflict.
func TestPatchOfAnotherUID(t *testing.T) {
	ctx := testContext(t)
	pods := clientset(t, apitest.Start(t), "").CoreV1().Pods("default")
	p, err := pods.Create(ctx, pod("p"), metav1.CreateOptions{})
	require.NoError(t, err)
	for _, kind := range []types.PatchType{types.MergePatchType, types.StrategicMergePatchType} {
		for _, subresources := range [][]string{nil, {"status"}} {
			_, err = pods.Patch(ctx, "p", kind, []byte(`{"metadata":{"uid":"another"}}`), metav1.PatchOptions{}, subresources...)
			assert.True(t, apierrors.IsInvalid(err), "%s of %v: %v", kind, subresources, err)
		}
	}
	_, err = pods.Patch(ctx, "p", types.ApplyPatchType, []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","uid":"another"}}`),
		metav1.PatchOptions{FieldManager: "one"})
	assert.True(t, apierrors.IsInvalid(err), "apply: %v", err)
	_, err = pods.Patch(ctx, "p", types.MergePatchType, []byte(`{"metadata":{"uid":"another","resourceVersion":"1"}}`), metav1.PatchOptions{})
	assert.True(t, apierrors.IsConflict(err), "of another version, too: %v", err)
	_, err = pods.Patch(ctx, "p", types.MergePatchType, []byte(`{"metadata":{"uid":"`+string(p.UID)+`"}}`), metav1.PatchOptions{})
	assert.NoError(t, err)
	p.UID = "another"
	_, err = pods.Update(ctx, p, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsConflict(err), "update: %v", err)
}

// TestPatchWithoutAnObject: a patch that makes something else than an object of the kind is
// invalid, and one that cannot be read is a bad request.
func TestPatchWithoutAnObject(t *testing.T) {
	ctx := testContext(t)
	pods := clientset(t, apitest.Start(t), "").CoreV1().Pods("default")
	_, err := pods.Create(ctx, pod("p"), metav1.CreateOptions{})
	require.NoError(t, err)
	patch := func(kind types.PatchType, data string) error {
		_, err := pods.Patch(ctx, "p", kind, []byte(data), metav1.PatchOptions{})
		return err
	}
	for kind, data := range map[types.PatchType]string{
		types.MergePatchType:          `{"spec":{"priority":"high"}}`,
		types.StrategicMergePatchType: `{"spec":{"priority":"high"}}`,
		types.JSONPatchType:           `[{"op":"add","path":"/spec/priority","value":"high"}]`,
	} {
		err := patch(kind, data)
		assert.True(t, apierrors.IsInvalid(err), "%s: %v", kind, err)
		err = patch(kind, `"text"`)
		assert.True(t, apierrors.IsBadRequest(err), "%s: %v", kind, err)
	}
	assert.True(t, apierrors.IsBadRequest(patch(types.MergePatchType, `[]`)))
	_, err = pods.Get(ctx, "p", metav1.GetOptions{})
	assert.NoError(t, err)
}

// TestDeletionOfAStatus: there is no deletion of a subresource; the object stays.
func TestDeletionOfAStatus(t *testing.T) {
	ctx := testContext(t)
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(ctx, pod("p")))
	pods := clientset(t, srv, "").CoreV1().Pods("default")
	err := clientset(t, srv, "").CoreV1().RESTClient().Delete().Namespace("default").Resource("pods").Name("p").SubResource("status").Do(ctx).Error()
	assert.True(t, apierrors.IsMethodNotSupported(err), "%v", err)
	_, err = pods.Get(ctx, "p", metav1.GetOptions{})
	assert.NoError(t, err)
}

// TestDeletionInAllNamespaces: as with API servers, a deletion of a collection is of
// one namespace.
func TestDeletionInAllNamespaces(t *testing.T) {
	ctx := testContext(t)
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(ctx, pod("p")))
	pods := clientset(t, srv, "").CoreV1().Pods
	err := pods("").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	assert.True(t, apierrors.IsMethodNotSupported(err), "%v", err)
	_, err = pods("default").Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	assert.NoError(t, pods("default").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
}

// TestGenerationOfAStatus: without a status subresource, the status of a custom resource is a
// field as any other.
func TestGenerationOfAStatus(t *testing.T) {
	for _, subresource := range []bool{false, true} {
		ctx := testContext(t)
		srv := apitest.Start(t, apitest.WithResources(apitest.Resource{GroupVersionResource: widgets, Kind: "Widget", Status: subresource}))
		client := dynamicClient(t, srv).Resource(widgets).Namespace("default")
		widget := &unstructured.Unstructured{Object: map[string]any{}}
		widget.SetGroupVersionKind(widgets.GroupVersion().WithKind("Widget"))
		widget.SetName("w")
		_, err := client.Create(ctx, widget, metav1.CreateOptions{})
		require.NoError(t, err)
		var of []string
		wanted := int64(2)
		if subresource {
			of, wanted = []string{"status"}, 1
		}
		patched, err := client.Patch(ctx, "w", types.MergePatchType, []byte(`{"status":{"ready":true}}`), metav1.PatchOptions{}, of...)
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"ready": true}, patched.Object["status"])
		assert.Equal(t, wanted, patched.GetGeneration())
	}
}

// TestTimeOfADeletion: an update of an object that is deleted keeps the time of that, whatever
// the client has.
func TestTimeOfADeletion(t *testing.T) {
	ctx := testContext(t)
	maps := clientset(t, apitest.Start(t), "").CoreV1().ConfigMaps("default")
	wanted := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Finalizers: []string{"example.com/waits"}}}
	_, err := maps.Create(ctx, wanted, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, maps.Delete(ctx, "a", metav1.DeleteOptions{}))
	deleted, err := maps.Get(ctx, "a", metav1.GetOptions{})
	require.NoError(t, err)
	changed := deleted.DeepCopy()
	changed.Data = map[string]string{"k": "v"}
	changed.DeletionTimestamp = &metav1.Time{Time: deleted.DeletionTimestamp.Add(time.Hour)}
	got, err := maps.Update(ctx, changed, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, changed.Data, got.Data)
	assert.Equal(t, deleted.DeletionTimestamp, got.DeletionTimestamp)
	changed = got.DeepCopy()
	changed.DeletionGracePeriodSeconds = ptr.To[int64](7)
	_, err = maps.Update(ctx, changed, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsInvalid(err), "%v", err)
}

// ownKind is a type that the program has added to client-go's scheme.
type ownKind struct{ corev1.ConfigMap }

func init() {
	kubernetes.Scheme.AddKnownTypeWithName(widgets.GroupVersion().WithKind("Own"), &ownKind{})
}

// TestCustomResourcesOfTheScheme: a Go type does not make a custom resource one of Kubernetes, not
// even one in client-go's scheme.
func TestCustomResourcesOfTheScheme(t *testing.T) {
	ctx := testContext(t)
	scheme := runtime.NewScheme()
	kind := widgets.GroupVersion().WithKind("Widget")
	scheme.AddKnownTypeWithName(kind, &corev1.ConfigMap{})
	scheme.AddKnownTypeWithName(kind.GroupVersion().WithKind("WidgetList"), &corev1.ConfigMapList{})
	client := dynamicClient(t, apitest.Start(t, apitest.WithScheme(scheme))).Resource(widgets).Namespace("default")
	widget := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"k": "v"}}}
	widget.SetGroupVersionKind(kind)
	widget.SetName("w")
	created, err := client.Create(ctx, widget, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 1, created.GetGeneration())
	patched, err := client.Patch(ctx, "w", types.MergePatchType, []byte(`{"data":{"k":"w"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 2, patched.GetGeneration())
	_, err = client.Patch(ctx, "w", types.StrategicMergePatchType, []byte(`{"data":{"k":"x"}}`), metav1.PatchOptions{})
	assert.True(t, apierrors.IsUnsupportedMediaType(err), "%v", err)
	_, err = client.Update(ctx, widget, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsInvalid(err), "without a version: %v", err)
}

// TestUpdateOfALease: an update of a Lease that names no version is invalid, since it might take the
// Lease from another process.
func TestUpdateOfALease(t *testing.T) {
	ctx := testContext(t)
	leases := clientset(t, apitest.Start(t), "").CoordinationV1().Leases("default")
	lease, err := leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "l"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	lease.Spec.HolderIdentity = ptr.To("me")
	blind := lease.DeepCopy()
	blind.ResourceVersion = ""
	_, err = leases.Update(ctx, blind, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsInvalid(err), "%v", err)
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = leases.Patch(ctx, "l", types.MergePatchType, []byte(`{"spec":{"holderIdentity":"you"}}`), metav1.PatchOptions{})
	assert.NoError(t, err)
}

// TestUpdateWithoutAName: an object names itself in updates, and patches cannot take its name away.
func TestUpdateWithoutAName(t *testing.T) {
	ctx := testContext(t)
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(ctx, pod("p")))
	client := clientset(t, srv, "").CoreV1()
	for _, of := range []string{"", "status"} {
		put := client.RESTClient().Put().Namespace("default").Resource("pods").Name("p")
		if of != "" {
			put.SubResource(of)
		}
		err := put.Body(pod("")).Do(ctx).Error()
		assert.True(t, apierrors.IsBadRequest(err), "%q: %v", of, err)
	}
	_, err := client.Pods("default").Patch(ctx, "p", types.MergePatchType, []byte(`{"metadata":{"name":null}}`), metav1.PatchOptions{})
	assert.True(t, apierrors.IsBadRequest(err), "%v", err)
	assert.NoError(t, srv.Update(ctx, pod("p")))
}

// TestNamesOfNamespaces: the names of namespaces and Services are labels, and have no dots.
func TestNamesOfNamespaces(t *testing.T) {
	ctx := testContext(t)
	client := clientset(t, apitest.Start(t), "").CoreV1()
	for name, valid := range map[string]bool{"a-b": true, "a.b": false} {
		_, err := client.Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		assert.Equal(t, !valid, apierrors.IsInvalid(err), "namespace %s: %v", name, err)
		_, err = client.Services("default").Create(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		assert.Equal(t, !valid, apierrors.IsInvalid(err), "service %s: %v", name, err)
		_, err = client.Secrets("default").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		assert.NoError(t, err, "secret %s", name)
	}
}
