package conformance

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func testDelete(c *check) {
	cm := c.create("a", nil)
	w := c.watch(metav1.ListOptions{ResourceVersion: cm.ResourceVersion})
	require.NoError(c, c.maps.Delete(c.ctx, "a", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}))

	e := c.nextOf(w, "DELETED", "a", "")
	last := e.Object.(*corev1.ConfigMap)
	assert.Equal(c, cm.Data, last.Data, "a deletion carries the last state")
	assert.Greater(c, c.version(last.ResourceVersion), c.version(cm.ResourceVersion), "at the version of the deletion")

	assertNotFound(c, c.maps, "a")
	err := c.maps.Delete(c.ctx, "a", metav1.DeleteOptions{})
	assert.True(c, apierrors.IsNotFound(err), "%v", err)

	again := c.create("a", nil)
	assert.NotEqual(c, cm.UID, again.UID)
	c.nextOf(w, "ADDED", "a", again.ResourceVersion)
}

func testDeletePreconditions(c *check) {
	old := c.create("a", nil)
	cm := c.change(old, func(cm *corev1.ConfigMap) { cm.Data["k"] = "w" })

	err := c.maps.Delete(c.ctx, "a", *metav1.NewPreconditionDeleteOptions("another"))
	assert.True(c, apierrors.IsConflict(err), "%v", err)
	err = c.maps.Delete(c.ctx, "a", *metav1.NewRVDeletionPrecondition(old.ResourceVersion))
	assert.True(c, apierrors.IsConflict(err), "%v", err)
	err = c.maps.Delete(c.ctx, "a", metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &cm.UID, ResourceVersion: &cm.ResourceVersion},
	})
	assert.NoError(c, err)
}

func testDeleteCollection(c *check) {
	c.create("a", map[string]string{"app": "gone"})
	c.create("b", map[string]string{"app": "kept"})
	c.create("c", map[string]string{"app": "gone"})
	require.NoError(c, c.maps.DeleteCollection(c.ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=gone"}))
	list, err := c.maps.List(c.ctx, metav1.ListOptions{LabelSelector: "app"})
	require.NoError(c, err)
	require.Len(c, list.Items, 1)
	assert.Equal(c, "b", list.Items[0].Name)
}

// A Pod is marked first, for its node to stop it, even if it is on none.
func testDeletePod(c *check) {
	created := mustCreate(c, c.pods, pod("p"))
	w := c.watchOf(c.pods, metav1.ListOptions{ResourceVersion: created.ResourceVersion})
	require.NoError(c, c.pods.Delete(c.ctx, "p", metav1.DeleteOptions{}))
	marked := c.nextOf(w, "MODIFIED", "p", "").Object.(*corev1.Pod)
	assert.NotNil(c, marked.DeletionTimestamp)
	assert.Zero(c, *marked.DeletionGracePeriodSeconds)
	assert.EqualValues(c, created.Generation+1, marked.Generation)
	gone := c.nextOf(w, "DELETED", "p", "").Object.(*corev1.Pod)
	assert.Equal(c, marked.DeletionTimestamp, gone.DeletionTimestamp)
	assertNotFound(c, c.pods, "p")
}

func testFinalizers(c *check) {
	cm := mustCreate(c, c.maps, configMap("a", "example.com/hold"))
	w := c.watch(metav1.ListOptions{ResourceVersion: cm.ResourceVersion})

	require.NoError(c, c.maps.Delete(c.ctx, "a", metav1.DeleteOptions{}))
	marked := c.nextOf(w, "MODIFIED", "a", "").Object.(*corev1.ConfigMap)
	require.NotNil(c, marked.DeletionTimestamp)
	assert.Greater(c, c.version(marked.ResourceVersion), c.version(cm.ResourceVersion))

	more := marked.DeepCopy()
	more.Finalizers = append(more.Finalizers, "example.com/late")
	_, err := c.maps.Update(c.ctx, more, metav1.UpdateOptions{})
	assert.True(c, apierrors.IsInvalid(err), "%v", err)

	require.NoError(c, c.maps.Delete(c.ctx, "a", metav1.DeleteOptions{}), "a second delete changes nothing")
	c.change(marked, func(cm *corev1.ConfigMap) { cm.Finalizers = nil })
	c.nextOf(w, "DELETED", "a", "")
	assertNotFound(c, c.maps, "a")
}
