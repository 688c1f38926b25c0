package conformance

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

// testNamespaces follows a namespace from its creation to its end. A finalizer of the
// test's own holds it, whether or not there is a controller that empties namespaces.
func testNamespaces(c *check) {
	if !c.rig.NamespaceLifecycle {
		c.Skip("the server does not look after namespaces")
	}
	namespaces := c.client.CoreV1().Namespaces()
	name := c.ns + "-mortal"
	maps := c.client.CoreV1().ConfigMaps(name)
	_, err := maps.Create(c.ctx, configMap("early"), metav1.CreateOptions{})
	assert.True(c, apierrors.IsNotFound(err), "%v", err)
	assert.ErrorContains(c, err, `namespaces "`+name+`" not found`)

	ns := mustCreate(c, namespaces, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{"example.com/hold"}},
	})
	assert.Equal(c, []corev1.FinalizerName{"example.com/hold", corev1.FinalizerKubernetes}, ns.Spec.Finalizers)
	assert.Equal(c, corev1.NamespaceActive, ns.Status.Phase)
	assert.Equal(c, name, ns.Labels[corev1.LabelMetadataName])
	held := mustCreate(c, maps, configMap("held", "example.com/hold"))

	ns.Spec.Finalizers = nil
	ns.Labels = map[string]string{"a": "b"}
	ns = mustUpdate(c, namespaces, ns)
	assert.Len(c, ns.Spec.Finalizers, 2, "an update leaves them alone")
	assert.Equal(c, map[string]string{"a": "b", corev1.LabelMetadataName: name}, ns.Labels)

	require.NoError(c, namespaces.Delete(c.ctx, name, metav1.DeleteOptions{}))
	ns = mustGet(c, namespaces, name)
	assert.Equal(c, corev1.NamespaceTerminating, ns.Status.Phase)
	assert.NotNil(c, ns.DeletionTimestamp)
	_, err = maps.Create(c.ctx, configMap("late"), metav1.CreateOptions{})
	assert.True(c, apierrors.IsForbidden(err), "%v", err)
	assert.True(c, apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause), "%v", err)
	held.Data["k"], held.ResourceVersion = "w", ""
	_, err = maps.Update(c.ctx, held, metav1.UpdateOptions{})
	assert.NoError(c, err, "what is there may be changed")
	require.NoError(c, namespaces.Delete(c.ctx, name, metav1.DeleteOptions{}), "a second delete changes nothing")

	require.NoError(c, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		ns, err := namespaces.Get(c.ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		ns.Spec.Finalizers = nil
		ended, err := namespaces.Finalize(c.ctx, ns, metav1.UpdateOptions{})
		if err == nil {
			assert.Empty(c, ended.Spec.Finalizers)
		}
		return err
	}))
	assertNotFound(c, namespaces, name)
	err = namespaces.Delete(c.ctx, metav1.NamespaceDefault, metav1.DeleteOptions{})
	assert.True(c, apierrors.IsForbidden(err), "%v", err)
}
