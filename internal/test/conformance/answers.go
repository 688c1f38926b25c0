package conformance

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// testAnswersAndEvents compares the answer to each kind of write with the event that
// watches get of it. Code that takes answers as news of an object relies on it.
func testAnswersAndEvents(c *check) {
	first, err := c.maps.List(c.ctx, metav1.ListOptions{})
	require.NoError(c, err)
	w := c.watch(metav1.ListOptions{ResourceVersion: first.ResourceVersion})

	held := configMap("a", "example.com/hold")
	answer := mustCreate(c, c.maps, held)
	c.sameInEvent(w, watch.Added, answer)

	answer.Data["k"] = "updated"
	answer = mustUpdate(c, c.maps, answer)
	c.sameInEvent(w, watch.Modified, answer)

	answer = mustPatch(c, c.maps, "a", types.MergePatchType, `{"data":{"k":"patched"}}`)
	c.sameInEvent(w, watch.Modified, answer)

	again := mustPatch(c, c.maps, "a", types.MergePatchType, `{"data":{"k":"patched"}}`)
	assert.Equal(c, answer, again, "a write that changes nothing makes no version")

	dry, err := c.maps.Patch(c.ctx, "a", types.MergePatchType, []byte(`{"data":{"k":"dry"}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	require.NoError(c, err)
	assert.Equal(c, "dry", dry.Data["k"], "a dry run answers what would be")
	assert.Equal(c, answer.ResourceVersion, dry.ResourceVersion)

	marked := c.answerOfDelete("a")
	require.NotNil(c, marked.DeletionTimestamp)
	assert.Equal(c, held.Finalizers, marked.Finalizers)
	c.sameInEvent(w, watch.Modified, marked)

	// The last finalizer goes, and the object with it. The answer has the old version.
	last := mustPatch(c, c.maps, "a", types.MergePatchType, `{"metadata":{"finalizers":null}}`)
	assert.Equal(c, marked.ResourceVersion, last.ResourceVersion)
	assert.NotNil(c, last.DeletionTimestamp)
	assert.Empty(c, last.Finalizers)
	gone := c.nextOf(w, watch.Deleted, "a", "").Object.(*corev1.ConfigMap)
	assert.Equal(c, last.UID, gone.UID)
	assert.Greater(c, c.version(gone.ResourceVersion), c.version(last.ResourceVersion), "the deletion has a version of its own")
}

// sameInEvent takes the next event of a watch, which brings what a write was answered.
func (c *check) sameInEvent(w watch.Interface, t watch.EventType, answer *corev1.ConfigMap) {
	c.Helper()
	e := c.nextOf(w, t, answer.Name, answer.ResourceVersion)
	assert.Equal(c, answer, e.Object)
}

// answerOfDelete deletes a ConfigMap that stays, and returns what was answered.
func (c *check) answerOfDelete(name string) *corev1.ConfigMap {
	c.Helper()
	cm := &corev1.ConfigMap{}
	require.NoError(c, c.client.CoreV1().RESTClient().Delete().Namespace(c.ns).Resource("configmaps").Name(name).Do(c.ctx).Into(cm))
	return cm
}
