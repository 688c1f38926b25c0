package kube_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/kube"
)

// tunnelSize is what a manager of sizes applies to tunnels.
type tunnelSize struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Size int64 `json:"size,omitempty"`
	} `json:"spec"`
}

// TestApply: managers own the fields that they apply, each with its own type.
func TestApply(t *testing.T) {
	t.Parallel()
	srv, sent := startForWrites(t)
	tunnels := newWriter[*tunnel](t, sent.config(srv), kube.WithResource(tunnelResource))
	sizes := newWriter[*tunnelSize](t, sent.config(srv), kube.WithResource(tunnelResource))
	one, two := metav1.ApplyOptions{FieldManager: "one"}, metav1.ApplyOptions{FieldManager: "two"}

	wanted := newTunnel("a")
	wanted.Spec.Ports = []int32{1, 2}
	created, err := tunnels.Apply(t.Context(), wanted, one)
	require.NoError(t, err)
	assert.NotEmpty(t, created.UID)
	assert.Equal(t, wanted.Spec, created.Spec)
	assert.Empty(t, wanted.UID, "what is given is left alone")

	size := &tunnelSize{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	size.Spec.Size = 1<<53 + 1
	sized, err := sizes.Apply(t.Context(), size, two)
	require.NoError(t, err)
	assert.Equal(t, int64(1<<53+1), sized.Spec.Size)

	wanted.Spec.Size = 7
	refused, err := tunnels.Apply(t.Context(), wanted, one)
	assert.True(t, apierrors.IsConflict(err), "%v", err)
	assert.ErrorContains(t, err, `apply tunnels.v1.example.com default/a: Apply failed with 1 conflict: conflict with "two": .spec.size`)
	assert.Nil(t, refused)
	one.Force = true
	_, err = tunnels.Apply(t.Context(), wanted, one)
	require.NoError(t, err)

	// Fields that are applied no more are removed; those of others stay.
	one.Force = false
	wanted.Spec.Size, wanted.Spec.Ports, wanted.Spec.Remote = 0, nil, "10.0.0.2"
	got, err := tunnels.Apply(t.Context(), wanted, one)
	require.NoError(t, err)
	assert.Equal(t, wanted.Spec, got.Spec)

	wanted.Status.Phase = "Ready"
	got, err = tunnels.Apply(t.Context(), wanted, metav1.ApplyOptions{FieldManager: "controller"}, "status")
	require.NoError(t, err)
	assert.Equal(t, "Ready", got.Status.Phase)
	_, err = tunnels.Apply(t.Context(), got, one)
	assert.ErrorContains(t, err, "object has managedFields, so it was read from a server")

	last := sent.requests[len(sent.requests)-1]
	assert.Equal(t, "PATCH /apis/example.com/v1/namespaces/default/tunnels/a/status", last.Method+" "+last.URL.Path)
	assert.Equal(t, "fieldManager=controller&force=false", last.URL.RawQuery)
	assert.Equal(t, "application/apply-patch+yaml", last.Header.Get("Content-Type"))
	assert.JSONEq(t, `{"apiVersion":"example.com/v1","kind":"Tunnel","metadata":{"namespace":"default","name":"a"},"spec":{"remote":"10.0.0.1","ports":[1,2]},"status":{}}`, sent.bodies[0])
}

// TestApplyDryRun: nothing is stored.
func TestApplyDryRun(t *testing.T) {
	t.Parallel()
	srv, _ := startForWrites(t)
	w := newWriter[*tunnel](t, srv.Config(), kube.WithResource(tunnelResource))
	imagined, err := w.Apply(t.Context(), newTunnel("a"), metav1.ApplyOptions{FieldManager: "test", DryRun: []string{metav1.DryRunAll}})
	require.NoError(t, err)
	assert.NotEmpty(t, imagined.UID)
	_, err = w.Get(t.Context(), index.KeyOf(imagined), metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
}

// TestWriterTriesOnce: nothing is sent again but what the server asks to send later.
func TestWriterTriesOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // a 429 asks for a wait
		srv, _ := startForWrites(t)
		config := srv.Config()
		w := newWriter[*tunnel](t, config, kube.WithResource(tunnelResource), kube.WithFullUpdates())
		old, err := w.Create(t.Context(), newTunnel("a"), metav1.CreateOptions{})
		require.NoError(t, err)
		changed := *old
		changed.Spec.Remote = "10.0.0.2"
		for what, fault := range map[string]apitest.Fault{
			"conflict":    {Err: apierrors.NewConflict(tunnelResource.GroupResource(), "a", nil)},
			"error":       {Err: apierrors.NewInternalError(http.ErrBodyNotAllowed)},
			"unavailable": {Err: apierrors.NewServiceUnavailable("restarting")},
			"torn off":    {End: apitest.Abrupt},
		} {
			for verb, write := range map[string]func() error{
				"create": func() error { _, err := w.Create(t.Context(), newTunnel("b"), metav1.CreateOptions{}); return err },
				"update": func() error { _, err := w.Update(t.Context(), old, metav1.UpdateOptions{}); return err },
				"patch":  func() error { _, err := w.MergePatch(t.Context(), old, &changed, metav1.PatchOptions{}); return err },
				"delete": func() error { return w.Delete(t.Context(), index.KeyOf(old), metav1.DeleteOptions{}) },
			} {
				fault.Verb, fault.Resource = verb, "tunnels"
				before := srv.Requests(verb, "tunnels")
				injected := srv.Inject(fault)
				assert.Error(t, write(), "%s of a %s", what, verb)
				injected.Remove()
				assert.Equal(t, before+1, srv.Requests(verb, "tunnels"), "%s of a %s", what, verb)
			}
		}
		before := srv.Requests("update", "tunnels")
		srv.Inject(apitest.Fault{Verb: "update", Times: 1, Err: apierrors.NewTooManyRequests("later", 1)})
		_, err = w.Update(t.Context(), old, metav1.UpdateOptions{})
		require.NoError(t, err)
		assert.Equal(t, before+2, srv.Requests("update", "tunnels"), "it is asked to come again")
	})
}
