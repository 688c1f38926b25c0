package kube_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed/kube"
)

// TestWriterRefuses: what cannot be meant is an error that says what to do, and
// nothing is sent.
func TestWriterRefuses(t *testing.T) {
	t.Parallel()
	srv, sent := startForWrites(t)
	ctx, config := t.Context(), sent.config(srv)
	tunnels := newWriter[*tunnel](t, config, kube.WithResource(tunnelResource), kube.WithFullUpdates())
	inShop := newWriter[*tunnel](t, config, kube.WithResource(tunnelResource), kube.WithNamespace("shop"))
	regions := newWriter[*unstructured.Unstructured](t, config, kube.WithResource(regionResource))
	const tunnelErr = " tunnels.v1.example.com default/a: "
	key := index.Key{Namespace: "default", Name: "a"}
	with := func(change func(*tunnel)) *tunnel {
		obj := newTunnel("a")
		change(obj)
		return obj
	}
	of := func(kind, name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"kind": kind, "metadata": map[string]any{"name": name}}}
	}
	of1 := func(_ any, err error) error { return err }
	for message, err := range map[string]error{
		"create tunnels.v1.example.com: object is nil":                                                                                                                       of1(tunnels.Create(ctx, nil, metav1.CreateOptions{})),
		"update tunnels.v1.example.com: object is nil":                                                                                                                       of1(tunnels.Update(ctx, nil, metav1.UpdateOptions{})),
		"apply tunnels.v1.example.com: object is nil":                                                                                                                        of1(tunnels.Apply(ctx, nil, metav1.ApplyOptions{})),
		"patch tunnels.v1.example.com: the old state: object is nil":                                                                                                         of1(tunnels.MergePatch(ctx, nil, newTunnel("a"), metav1.PatchOptions{})),
		"patch tunnels.v1.example.com default/a: the updated state: object is nil":                                                                                           of1(tunnels.MergePatch(ctx, newTunnel("a"), nil, metav1.PatchOptions{})),
		"create" + tunnelErr + "resource version is \"7\", want none: clear it to create a copy, or use Update":                                                              of1(tunnels.Create(ctx, with(func(o *tunnel) { o.ResourceVersion = "7" }), metav1.CreateOptions{})),
		"create tunnels.v1.example.com default/: object has no name and no generateName":                                                                                     of1(tunnels.Create(ctx, with(func(o *tunnel) { o.Name = "" }), metav1.CreateOptions{})),
		"update tunnels.v1.example.com default/: name is missing":                                                                                                            of1(tunnels.Update(ctx, with(func(o *tunnel) { o.Name = "" }), metav1.UpdateOptions{})),
		"get tunnels.v1.example.com: name is missing":                                                                                                                        of1(tunnels.Get(ctx, index.Key{}, metav1.GetOptions{})),
		"delete tunnels.v1.example.com default/: name is missing":                                                                                                            tunnels.Delete(ctx, index.Key{Namespace: "default"}, metav1.DeleteOptions{}),
		`get tunnels.v1.example.com default/..: ".." may not be '..'`:                                                                                                        of1(tunnels.Get(ctx, index.Key{Namespace: "default", Name: ".."}, metav1.GetOptions{})),
		`delete tunnels.v1.example.com default/a/b: "a/b" may not contain '/'`:                                                                                               tunnels.Delete(ctx, index.Key{Namespace: "default", Name: "a/b"}, metav1.DeleteOptions{}),
		"create tunnels.v1.example.com a: namespace is missing for tunnels.v1.example.com: set it, or use WithNamespace":                                                     of1(tunnels.Create(ctx, with(func(o *tunnel) { o.Namespace = "" }), metav1.CreateOptions{})),
		"create" + tunnelErr + `the namespace is "default", and WithNamespace names "shop"`:                                                                                  of1(inShop.Create(ctx, newTunnel("a"), metav1.CreateOptions{})),
		`delete regions.v1.example.com default/a: the namespace is "default", and regions.v1.example.com have none`:                                                          regions.Delete(ctx, key, metav1.DeleteOptions{}),
		"update regions.v1.example.com a: kind is Tunnel of example.com/v1, want Region of example.com/v1":                                                                   of1(regions.Update(ctx, of("Tunnel", "a"), metav1.UpdateOptions{})),
		"update the status of regions.v1.example.com a: regions.v1.example.com have no subresource status; for a custom resource, it stands in the CustomResourceDefinition": of1(regions.UpdateStatus(ctx, of("Region", "a"), metav1.UpdateOptions{})),
		"patch" + tunnelErr + `unknown patch type "merge": use a constant of k8s.io/apimachinery/pkg/types`:                                                                  of1(tunnels.Patch(ctx, key, "merge", []byte("{}"), metav1.PatchOptions{})),
		"patch" + tunnelErr + "the patch is empty":                                                                                                                           of1(tunnels.Patch(ctx, key, types.MergePatchType, nil, metav1.PatchOptions{})),
		"patch" + tunnelErr + "the patch, of the type application/merge-patch+json, is not JSON":                                                                             of1(tunnels.Patch(ctx, key, types.MergePatchType, []byte("{"), metav1.PatchOptions{})),
		"patch" + tunnelErr + `the status has changed, which is a subresource: patch it with the subresource "status"`:                                                       of1(tunnels.MergePatch(ctx, newTunnel("a"), with(func(o *tunnel) { o.Status.Phase = "Ready" }), metav1.PatchOptions{})),
		"patch" + tunnelErr + "a subresource has no name: leave it out to write the object itself":                                                                           of1(tunnels.MergePatch(ctx, newTunnel("a"), with(func(o *tunnel) { o.Status.Phase = "Ready" }), metav1.PatchOptions{}, "")),
		"patch" + tunnelErr + "spec has changed, which a patch of the status does not change; patch it without the subresource":                                              of1(tunnels.MergePatch(ctx, newTunnel("a"), with(func(o *tunnel) { o.Spec.Size = 7; o.Status.Phase = "Ready" }), metav1.PatchOptions{}, "status")),
		"patch" + tunnelErr + `the updated state is of default/a, UID "", version "8", and the old one of default/a, UID "", version ""; change a copy of the old one`:       of1(tunnels.MergePatch(ctx, newTunnel("a"), with(func(o *tunnel) { o.ResourceVersion = "8" }), metav1.PatchOptions{})),
		"apply" + tunnelErr + "ApplyOptions.FieldManager is empty; it is the name of what applies, the same each time":                                                       of1(tunnels.Apply(ctx, newTunnel("a"), metav1.ApplyOptions{})),
		"apply" + tunnelErr + "object has managedFields, so it was read from a server: apply an object with only the fields that you own": of1(tunnels.Apply(ctx,
			with(func(o *tunnel) { o.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}} }), metav1.ApplyOptions{FieldManager: "m"})),
	} {
		assert.EqualError(t, err, message)
	}
	assert.Zero(t, sent.count(), "%v", sent.requests)
}

// misnamed says that it has another name than it has.
type misnamed struct {
	metav1.ObjectMeta `json:"metadata"`
}

func (m *misnamed) GetName() string { return m.ObjectMeta.Name + "?" }

// pointed embeds a pointer to its metadata.
type pointed struct {
	*metav1.ObjectMeta `json:"metadata"`
}

// TestWriterRefusesNilMetadata: an object, and an answer of the server, may have none.
func TestWriterRefusesNilMetadata(t *testing.T) {
	t.Parallel()
	srv, sent := startForWrites(t)
	const metadataErr = "GetName or GetNamespace of *kube_test.pointed has panicked: runtime error: invalid memory address or nil pointer dereference; if a *kube_test.pointed embeds a pointer to its metadata, set it"
	regions := newWriter[*pointed](t, sent.config(srv), kube.WithResource(regionResource), kube.WithFullUpdates())
	ctx, region := t.Context(), &pointed{&metav1.ObjectMeta{Name: "a"}}
	_, err := regions.Create(ctx, &pointed{}, metav1.CreateOptions{})
	assert.EqualError(t, err, "create regions.v1.example.com: "+metadataErr)
	_, err = regions.Update(ctx, &pointed{}, metav1.UpdateOptions{})
	assert.EqualError(t, err, "update regions.v1.example.com: "+metadataErr)
	_, err = regions.Apply(ctx, &pointed{}, metav1.ApplyOptions{FieldManager: "m"})
	assert.EqualError(t, err, "apply regions.v1.example.com: "+metadataErr)
	_, err = regions.MergePatch(ctx, region, &pointed{}, metav1.PatchOptions{})
	assert.EqualError(t, err, "patch regions.v1.example.com a: the updated state: "+metadataErr)
	assert.Zero(t, sent.count())

	sent.answer = func(request *http.Request) *http.Response {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
			Body: io.NopCloser(strings.NewReader(`{"kind":"Region","apiVersion":"example.com/v1"}`))}
	}
	_, err = regions.MergePatch(ctx, region, region, metav1.PatchOptions{})
	assert.EqualError(t, err, "patch regions.v1.example.com a: "+metadataErr)
}

// TestNewWriterRefuses: NewWriter rejects unusable arguments.
func TestNewWriterRefuses(t *testing.T) {
	t.Parallel()
	srv, sent := startForWrites(t)
	config := srv.Config()
	of1 := func(_ any, err error) error { return err }
	for message, err := range map[string]error{
		"writer of *v1.Pod: configuration is nil": of1(kube.NewWriter[*corev1.Pod](nil)),
		"writer of *v1.Pod: option is nil":        of1(kube.NewWriter[*corev1.Pod](config, nil)),
		"writer of *v1.Pod: source option is nil": of1(kube.NewWriter[*corev1.Pod](config, kube.SourceOption(nil))),
		"writer of *kube_test.tunnel: the resource of *kube_test.tunnel is not known: it is in no scheme; use WithResource, or WithScheme": of1(kube.NewWriter[*tunnel](config)),
		"writer of *v1.Pod: WithoutWatchList, WithWatchListTimeout: for what lists and watches, and a writer does neither":                 of1(kube.NewWriter[*corev1.Pod](config, kube.WithWatchListTimeout(1), kube.WithoutWatchList())),
		"writer of *v1.Pod: WithListBudget, WithCompressedWatches: for what lists and watches, and a writer does neither":                  of1(kube.NewWriter[*corev1.Pod](config, kube.WithListBudget(kube.NewListBudget(1)), kube.WithCompressedWatches())),
		"writer of *v1.PartialObjectMetadata: WithFullUpdates: metadata is not all that objects have":                                      of1(kube.NewWriter[*metav1.PartialObjectMetadata](config, kube.WithResource(podResource), kube.WithFullUpdates())),
	} {
		assert.EqualError(t, err, message)
	}

	pods := newWriter[*corev1.Pod](t, sent.config(srv), kube.WithResource(configMapResource))
	_, err := pods.Create(t.Context(), rig.NewPod("a", ""), metav1.CreateOptions{})
	assert.EqualError(t, err, "create configmaps default/a: kind of the resource is ConfigMap of v1, and *v1.Pod is registered as a Pod of v1: change WithResource, or the type")
	wrong := newWriter[*misnamed](t, sent.config(srv), kube.WithResource(podResource))
	_, err = wrong.Create(t.Context(), &misnamed{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a"}}, metav1.CreateOptions{})
	assert.ErrorContains(t, err, `name "a" and namespace "n" in JSON, but GetName and GetNamespace return "a?" and "n": check the JSON tags of *kube_test.misnamed`)
	missing := newWriter[*tunnel](t, sent.config(srv), kube.WithResource(schema.GroupVersionResource{Version: "v1", Resource: "ghosts"}))
	_, err = missing.Create(t.Context(), newTunnel("a"), metav1.CreateOptions{})
	assert.EqualError(t, err, "create ghosts default/a: find the resource ghosts in v1: the server does not have it")
	roles := newWriter[*rbacv1.ClusterRole](t, sent.config(srv), kube.WithNamespace("default"))
	_, err = roles.Get(t.Context(), index.Key{Name: "a"}, metav1.GetOptions{})
	assert.EqualError(t, err, `get ClusterRole a: the objects have no namespace: WithNamespace names "default", and clusterroles.v1.rbac.authorization.k8s.io have none`)
	assert.Zero(t, sent.count())
}
