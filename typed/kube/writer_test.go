package kube_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed/kube"
)

// TestWriterWrites: everything that can be done to an object, with each kind of T.
func TestWriterWrites(t *testing.T) {
	t.Parallel()
	t.Run("a type of the API", func(t *testing.T) {
		testWrites(t, rig.NewPod("a", "node-1"), func(p *corev1.Pod, spec, status string) {
			p.Spec.Hostname, p.Status.Phase = spec, corev1.PodPhase(status)
		}, func(p *corev1.Pod) (string, string) { return p.Spec.Hostname, string(p.Status.Phase) },
			`{"spec":{"hostname":"patched"}}`)
	})
	t.Run("a struct", func(t *testing.T) {
		testWrites(t, newTunnel("a"), func(o *tunnel, spec, status string) { o.Spec.Remote, o.Status.Phase = spec, status },
			func(o *tunnel) (string, string) { return o.Spec.Remote, o.Status.Phase },
			`{"spec":{"remote":"patched"}}`, kube.WithResource(tunnelResource), kube.WithFullUpdates())
	})
	t.Run("unstructured", func(t *testing.T) {
		obj := &unstructured.Unstructured{Object: map[string]any{}}
		obj.SetNamespace("default")
		obj.SetName("a")
		get := func(o *unstructured.Unstructured, fields ...string) string {
			text, _, err := unstructured.NestedString(o.Object, fields...)
			require.NoError(t, err)
			return text
		}
		testWrites(t, obj, func(o *unstructured.Unstructured, spec, status string) {
			require.NoError(t, unstructured.SetNestedField(o.Object, spec, "spec", "remote"))
			require.NoError(t, unstructured.SetNestedField(o.Object, status, "status", "phase"))
		}, func(o *unstructured.Unstructured) (string, string) {
			return get(o, "spec", "remote"), get(o, "status", "phase")
		}, `{"spec":{"remote":"patched"}}`, kube.WithResource(tunnelResource))
	})
}

// versioned is what the tests ask of objects.
type versioned interface {
	index.Object
	GetResourceVersion() string
	SetResourceVersion(string)
	GetUID() types.UID
}

func testWrites[T versioned](t *testing.T, obj T, set func(obj T, spec, status string), get func(T) (spec, status string), patch string, opts ...kube.WriterOption) {
	t.Parallel()
	srv, _ := startForWrites(t)
	ctx, w := t.Context(), newWriter[T](t, srv.Config(), opts...)
	key := index.KeyOf(obj)
	check := func(obj T, err error, spec, status string) {
		t.Helper()
		require.NoError(t, err)
		gotSpec, gotStatus := get(obj)
		assert.Equal(t, spec+"/"+status, gotSpec+"/"+gotStatus)
		assert.Equal(t, srv.ResourceVersion(), obj.GetResourceVersion())
		read, err := w.Get(ctx, key, metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, obj, read)
		assert.NotSame(t, obj, read)
	}

	set(obj, "first", "")
	created, err := w.Create(ctx, obj, metav1.CreateOptions{})
	assert.Empty(t, obj.GetResourceVersion(), "it is left alone")
	check(created, err, "first", "")
	_, err = w.Create(ctx, obj, metav1.CreateOptions{})
	assert.True(t, apierrors.IsAlreadyExists(err), "%v", err)

	stale, err := w.Get(ctx, key, metav1.GetOptions{})
	require.NoError(t, err)
	set(created, "second", "ignored")
	updated, err := w.UpdateStatus(ctx, created, metav1.UpdateOptions{})
	check(updated, err, "first", "ignored")
	set(updated, "third", "Ready")
	updated, err = w.Update(ctx, updated, metav1.UpdateOptions{})
	check(updated, err, "third", "ignored")
	_, err = w.Update(ctx, stale, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsConflict(err), "%v", err)
	_, err = w.UpdateStatus(ctx, stale, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsConflict(err), "%v", err)

	patched, err := w.Patch(ctx, key, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	check(patched, err, "patched", "ignored")
	patched, err = w.Patch(ctx, key, types.MergePatchType, []byte(`{"status":{"phase":"Failed"}}`), metav1.PatchOptions{}, "status")
	check(patched, err, "patched", "Failed")

	old, err := w.Get(ctx, key, metav1.GetOptions{})
	require.NoError(t, err)
	set(patched, "merged", "Failed")
	patched, err = w.MergePatch(ctx, old, patched, metav1.PatchOptions{})
	check(patched, err, "merged", "Failed")
	old, err = w.Get(ctx, key, metav1.GetOptions{})
	require.NoError(t, err)
	set(patched, "merged", "Succeeded")
	patched, err = w.MergePatch(ctx, old, patched, metav1.PatchOptions{}, "status")
	check(patched, err, "merged", "Succeeded")

	uid := types.UID("another")
	err = w.Delete(ctx, key, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	assert.True(t, apierrors.IsConflict(err), "%v", err)
	require.NoError(t, w.Delete(ctx, key, *metav1.NewPreconditionDeleteOptions(string(patched.GetUID()))))
	err = w.Delete(ctx, key, metav1.DeleteOptions{})
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
	gone, err := w.Get(ctx, key, metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
	assert.Zero(t, gone)
}

// TestWriterSendsTheKind: objects need not say of which kind they are, and nothing is
// set in them.
func TestWriterSendsTheKind(t *testing.T) {
	t.Parallel()
	srv, sent := startForWrites(t)
	pods := newWriter[*corev1.Pod](t, sent.config(srv), kube.WithTypeMeta())
	pod := rig.NewPod("a", "n")
	before := pod.DeepCopy()
	created, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, before, pod)
	assert.Contains(t, sent.bodies[0], `"apiVersion":"v1","kind":"Pod"`)
	assert.Equal(t, metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, created.TypeMeta, "WithTypeMeta")
	created, err = newWriter[*corev1.Pod](t, srv.Config()).Get(t.Context(), index.KeyOf(pod), metav1.GetOptions{})
	require.NoError(t, err)
	assert.Zero(t, created.TypeMeta)
}

// TestWriterNamespace: objects and keys without a namespace are of the writer's.
func TestWriterNamespace(t *testing.T) {
	t.Parallel()
	srv, _ := startForWrites(t)
	w := newWriter[*tunnel](t, srv.Config(), kube.WithResource(tunnelResource), kube.WithNamespace("shop"))
	created, err := w.Create(t.Context(), &tunnel{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "shop", created.Namespace)
	assert.Regexp(t, "^a-.+", created.Name)
	require.NoError(t, w.Delete(t.Context(), index.Key{Name: created.Name}, metav1.DeleteOptions{}))

	regions := newWriter[*metav1.PartialObjectMetadata](t, srv.Config(), kube.WithResource(regionResource))
	region, err := regions.Create(t.Context(), &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "north"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	labelled := region.DeepCopy()
	labelled.Labels = map[string]string{"a": "b"}
	region, err = regions.MergePatch(t.Context(), region, labelled, metav1.PatchOptions{})
	require.NoError(t, err)
	assert.Equal(t, "b", region.Labels["a"])
	_, err = regions.Update(t.Context(), region, metav1.UpdateOptions{})
	assert.ErrorContains(t, err, "update regions.v1.example.com north: a *v1.PartialObjectMetadata may have fewer fields")
}

// TestWriterOfFewFields: what a type does not have is never lost.
func TestWriterOfFewFields(t *testing.T) {
	t.Parallel()
	srv, sent := startForWrites(t)
	full := rig.NewPod("a", "node-1")
	full.Spec.Hostname = "kept"
	require.NoError(t, srv.Create(t.Context(), full))
	w := newWriter[*slimPod](t, sent.config(srv), kube.WithResource(podResource))
	old, err := w.Get(t.Context(), index.KeyOf(full), metav1.GetOptions{})
	require.NoError(t, err)

	_, err = w.Update(t.Context(), old, metav1.UpdateOptions{})
	assert.EqualError(t, err, "update pods default/a: a *kube_test.slimPod may have fewer fields than the object, which would lose the others: use MergePatch or Apply, or say WithFullUpdates if it has them all")
	_, err = w.UpdateStatus(t.Context(), old, metav1.UpdateOptions{})
	assert.ErrorContains(t, err, "update the status of pods default/a: a *kube_test.slimPod may have fewer fields")
	assert.Equal(t, 1, sent.count())

	moved := *old
	moved.Spec.NodeName = "node-2"
	_, err = w.MergePatch(t.Context(), old, &moved, metav1.PatchOptions{})
	require.NoError(t, err)
	got, err := newWriter[*corev1.Pod](t, srv.Config()).Get(t.Context(), index.KeyOf(full), metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "node-2 kept web", got.Spec.NodeName+" "+got.Spec.Hostname+" "+got.Labels["app"])
}

// TestMergePatch: the patch has what differs, to the last digit, and holds for the
// object and version that it was made from.
func TestMergePatch(t *testing.T) {
	t.Parallel()
	srv, sent := startForWrites(t)
	w := newWriter[*tunnel](t, sent.config(srv), kube.WithResource(tunnelResource))
	old := newTunnel("a")
	old.Spec.Size, old.Spec.Ports, old.Spec.Key = 1<<53, []int32{1, 2}, &keySpec{Secret: "s", Days: 7}
	old, err := w.Create(t.Context(), old, metav1.CreateOptions{})
	require.NoError(t, err)
	updated := kube.Copy(old)
	updated.Labels = map[string]string{"a": "b"}
	updated.Spec.Remote, updated.Spec.Size, updated.Spec.Ports, updated.Spec.Key = "", 1<<53+1, []int32{2}, &keySpec{Secret: "s", Days: 8}
	got, err := w.MergePatch(t.Context(), old, updated, metav1.PatchOptions{FieldManager: "test"})
	require.NoError(t, err)
	assert.Equal(t, updated.Spec, got.Spec)
	assert.JSONEq(t, `{"metadata":{"labels":{"a":"b"},"uid":"`+string(old.UID)+`","resourceVersion":"`+old.ResourceVersion+`"},
		"spec":{"remote":null,"size":9007199254740993,"ports":[2],"key":{"days":8}}}`, sent.bodies[1])
	assert.Contains(t, sent.bodies[1], "9007199254740993")
	assert.Equal(t, "test", sent.requests[1].URL.Query().Get("fieldManager"))

	_, err = w.MergePatch(t.Context(), old, updated, metav1.PatchOptions{})
	assert.True(t, apierrors.IsConflict(err), "%v", err)

	same := kube.Copy(got)
	copied, err := w.MergePatch(t.Context(), got, same, metav1.PatchOptions{})
	require.NoError(t, err)
	assert.Equal(t, got, copied)
	assert.NotSame(t, same, copied)
	assert.NotSame(t, same.Spec.Key, copied.Spec.Key)
	assert.Equal(t, 3, sent.count(), "nothing is sent")

	old.ResourceVersion, updated.ResourceVersion = "", ""
	updated.Spec.Remote = "10.0.0.2"
	got, err = w.MergePatch(t.Context(), old, updated, metav1.PatchOptions{})
	require.NoError(t, err, "whatever version")
	assert.Equal(t, "10.0.0.2", got.Spec.Remote)
	require.NoError(t, w.Delete(t.Context(), index.KeyOf(old), metav1.DeleteOptions{}))
	_, err = w.Create(t.Context(), newTunnel("a"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = w.MergePatch(t.Context(), old, updated, metav1.PatchOptions{})
	assert.True(t, apierrors.IsInvalid(err), "it is another object: %v", err)
}

// TestUnusableAnswers: what the server did and did not answer properly is an error
// that says so.
func TestUnusableAnswers(t *testing.T) {
	t.Parallel()
	srv, sent := startForWrites(t)
	w := newWriter[*tunnel](t, sent.config(srv), kube.WithResource(tunnelResource))
	const prefix = "create tunnels.v1.example.com default/a: the server has accepted the request, but its answer cannot be used: "
	for _, test := range []struct{ contentType, body, message string }{
		{"text/html", "<html>", `the answer has the content type "text/html"`},
		{"application/json", "{", "unexpected end of JSON input"},
		{"application/json", `{"kind":"Scale","apiVersion":"autoscaling/v1"}`, "kind is Scale of autoscaling/v1, want Tunnel of example.com/v1"},
		{"application/json", `{"kind":"Tunnel","apiVersion":"example.com/v1","spec":7}`, "it cannot be decoded"},
	} {
		sent.answer = func(request *http.Request) *http.Response {
			return &http.Response{StatusCode: http.StatusCreated, Header: http.Header{"Content-Type": {test.contentType}}, Request: request,
				Body: io.NopCloser(strings.NewReader(test.body))}
		}
		answer, err := w.Create(t.Context(), newTunnel("a"), metav1.CreateOptions{})
		assert.ErrorContains(t, err, prefix+test.message)
		assert.Nil(t, answer)
	}
}

// TestWriterConcurrently: one writer serves many, from its first request on.
func TestWriterConcurrently(t *testing.T) {
	t.Parallel()
	srv, sent := startForWrites(t)
	config := sent.config(srv)
	config.QPS = -1
	w := newWriter[*tunnel](t, config, kube.WithResource(tunnelResource), kube.WithFullUpdates())
	shared := newTunnel("")
	shared.GenerateName = "a-"
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			obj, err := w.Create(t.Context(), shared, metav1.CreateOptions{})
			if assert.NoError(t, err) {
				obj.Status.Phase = "Ready"
				_, err = w.UpdateStatus(t.Context(), obj, metav1.UpdateOptions{})
				assert.NoError(t, err)
			}
		})
	}
	group.Wait()
	assert.Equal(t, 16, sent.count())
}

// TestWriterAsksOnce: the server is asked for the resource once, and again for a
// subresource that it did not have.
func TestWriterAsksOnce(t *testing.T) {
	t.Parallel()
	srv, sent := startForWrites(t)
	w := newWriter[*tunnel](t, sent.config(srv), kube.WithResource(tunnelResource))
	key := index.KeyOf(newTunnel("a"))
	for range 3 {
		_, err := w.Get(t.Context(), key, metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), "%v", err)
	}
	assert.Equal(t, 1, sent.asked)
	for range 2 {
		_, err := w.Patch(t.Context(), key, types.MergePatchType, []byte("{}"), metav1.PatchOptions{}, "scale")
		require.ErrorContains(t, err, "tunnels.v1.example.com have no subresource scale")
	}
	assert.Equal(t, 3, sent.asked)
}

// TestWriterAsksTheRESTMapper: it says what the resource of a kind is.
func TestWriterAsksTheRESTMapper(t *testing.T) {
	t.Parallel()
	srv, _ := startForWrites(t)
	mapper := meta.NewDefaultRESTMapper(nil)
	w := newWriter[*corev1.Pod](t, srv.Config(), kube.WithRESTMapper(mapper))
	_, err := w.Create(t.Context(), rig.NewPod("a", "n"), metav1.CreateOptions{})
	require.ErrorContains(t, err, "create Pod default/a: find the resource of /v1, Kind=Pod")
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	_, err = w.Create(t.Context(), rig.NewPod("a", "n"), metav1.CreateOptions{})
	require.NoError(t, err, "it is asked again after an error")
}

// TestWriterEndsWithItsContext: the error wraps that of the context.
func TestWriterEndsWithItsContext(t *testing.T) {
	t.Parallel()
	srv, _ := startForWrites(t)
	w := newWriter[*tunnel](t, srv.Config(), kube.WithResource(tunnelResource))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.Create(ctx, newTunnel("a"), metav1.CreateOptions{})
	assert.True(t, errors.Is(err, context.Canceled), "%v", err)
}
