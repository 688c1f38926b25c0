package conformance

import (
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// podOnNode makes a Pod that is on a node, of which there is none.
func (c *check) podOnNode(name string, finalizers ...string) *corev1.Pod {
	c.Helper()
	wanted := pod(name)
	wanted.Spec.NodeName = "nowhere"
	wanted.Finalizers = finalizers
	created := mustCreate(c, c.pods, wanted)
	return created
}

// deletePod deletes a Pod with a grace period, nil for its own, and returns the Pod, nil
// if it is gone.
func (c *check) deletePod(name string, period *int64) *corev1.Pod {
	c.Helper()
	require.NoError(c, c.pods.Delete(c.ctx, name, metav1.DeleteOptions{GracePeriodSeconds: period}))
	left, err := c.pods.Get(c.ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(c, err)
	return left
}

func testDeletePodOnNode(c *check) {
	created := c.podOnNode("p")
	w := c.watchOf(c.pods, metav1.ListOptions{ResourceVersion: created.ResourceVersion})

	begun := time.Now().Truncate(time.Second)
	marked := c.deletePod("p", nil)
	require.NotNil(c, marked, "its node has to stop it first")
	c.nextOf(w, "MODIFIED", "p", marked.ResourceVersion)
	assert.EqualValues(c, 30, *marked.DeletionGracePeriodSeconds)
	assert.False(c, marked.DeletionTimestamp.Time.Before(begun.Add(30*time.Second)), "the time by which it should be gone")
	assert.EqualValues(c, created.Generation+1, marked.Generation)

	for _, period := range []*int64{nil, ptr.To[int64](30), ptr.To[int64](60)} {
		assert.Equal(c, marked, c.deletePod("p", period), "a period is only ever shortened")
	}
	shorter := c.deletePod("p", ptr.To[int64](20))
	require.NotNil(c, shorter)
	c.nextOf(w, "MODIFIED", "p", shorter.ResourceVersion)
	assert.EqualValues(c, 20, *shorter.DeletionGracePeriodSeconds)
	assert.Equal(c, marked.DeletionTimestamp.Add(-10*time.Second), shorter.DeletionTimestamp.Time)
	assert.Equal(c, marked.Generation, shorter.Generation)

	assert.Nil(c, c.deletePod("p", ptr.To[int64](0)), "its node says that it has stopped")
	last := c.nextOf(w, "MODIFIED", "p", "").Object.(*corev1.Pod)
	assert.Zero(c, *last.DeletionGracePeriodSeconds)
	c.nextOf(w, "DELETED", "p", "")

	c.podOnNode("force")
	assert.Nil(c, c.deletePod("force", ptr.To[int64](0)))
	c.podOnNode("negative")
	assert.EqualValues(c, 1, *c.deletePod("negative", ptr.To[int64](-5)).DeletionGracePeriodSeconds)
	c.podOnNode("ended")
	mustPatch(c, c.pods, "ended", types.MergePatchType, `{"status":{"phase":"Failed"}}`, "status")
	assert.Nil(c, c.deletePod("ended", nil), "there is nothing to stop")
}

func testDeletePodFinalizers(c *check) {
	release := func(name string) {
		mustPatch(c, c.pods, name, types.MergePatchType, `{"metadata":{"finalizers":null}}`)
	}
	c.podOnNode("p", "example.com/hold")
	require.NotNil(c, c.deletePod("p", nil))
	release("p")
	assert.NotNil(c, c.deletePod("p", nil), "its node still has it")
	assert.Nil(c, c.deletePod("p", ptr.To[int64](0)))

	c.podOnNode("stopped", "example.com/hold")
	stopped := c.deletePod("stopped", ptr.To[int64](0))
	require.NotNil(c, stopped)
	assert.Zero(c, *stopped.DeletionGracePeriodSeconds)
	release("stopped")
	assertNotFound(c, c.pods, "stopped")
}

// A garbage collector deletes or orphans the dependents. The server requests either by a
// finalizer.
func testDeletePropagation(c *check) {
	created := c.create("a", nil)
	for _, step := range []struct {
		policy    metav1.DeletionPropagation
		finalizer string
	}{
		{metav1.DeletePropagationForeground, metav1.FinalizerDeleteDependents},
		{metav1.DeletePropagationOrphan, metav1.FinalizerOrphanDependents},
		{"", metav1.FinalizerOrphanDependents},
		{metav1.DeletePropagationForeground, metav1.FinalizerDeleteDependents},
	} {
		options := metav1.DeleteOptions{PropagationPolicy: &step.policy}
		if step.policy == "" {
			options.PropagationPolicy = nil
		}
		require.NoError(c, c.maps.Delete(c.ctx, "a", options))
		held := mustGet(c, c.maps, "a")
		assert.Equal(c, []string{step.finalizer}, held.Finalizers)
		assert.NotNil(c, held.DeletionTimestamp)
		assert.Equal(c, created.UID, held.UID)
	}
	require.NoError(c, c.maps.Delete(c.ctx, "a", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}))
	_, err := c.maps.Get(c.ctx, "a", metav1.GetOptions{})
	assert.True(c, apierrors.IsNotFound(err), "a finalizer that nobody wants any more holds nothing: %v", err)

	// Jobs orphan their Pods by default.
	template := corev1.PodTemplateSpec{Spec: pod("j").Spec}
	template.Spec.RestartPolicy = corev1.RestartPolicyNever
	jobs := c.client.BatchV1().Jobs(c.ns)
	mustCreate(c, jobs, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j"}, Spec: batchv1.JobSpec{Template: template}})
	require.NoError(c, jobs.Delete(c.ctx, "j", metav1.DeleteOptions{}))
	job := mustGet(c, jobs, "j")
	assert.Equal(c, []string{metav1.FinalizerOrphanDependents}, job.Finalizers)
}

// A delete is answered with the object, if that is left or is of some kinds, or else
// with a status.
func testDeleteAnswers(c *check) {
	var status *metav1.Status
	del := func(resource, name string, options metav1.DeleteOptions) (answer metav1.Object, code int) {
		result := c.client.CoreV1().RESTClient().Delete().Namespace(c.ns).Resource(resource).Name(name).Body(&options).Do(c.ctx)
		obj, err := result.StatusCode(&code).Get()
		require.NoError(c, err)
		answer, _ = obj.(metav1.Object)
		status, _ = obj.(*metav1.Status)
		return answer, code
	}
	a := c.create("a", nil)
	answer, code := del("configmaps", "a", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
	assert.Nil(c, answer)
	assert.Equal(c, 200, code)
	answer, _ = del("configmaps", "a", metav1.DeleteOptions{})
	assert.Nil(c, answer)
	require.NotNil(c, status)
	assert.Equal(c, &metav1.StatusDetails{Name: "a", Kind: "configmaps", UID: a.UID}, status.Details)

	mustCreate(c, c.maps, configMap("held", "example.com/hold"))
	//lint:ignore SA1019 clients may still send it
	answer, code = del("configmaps", "held", metav1.DeleteOptions{OrphanDependents: ptr.To(false)})
	require.NotNil(c, answer)
	assert.NotNil(c, answer.GetDeletionTimestamp())
	assert.Equal(c, 202, code)

	mustCreate(c, c.pods, pod("p"))
	answer, code = del("pods", "p", metav1.DeleteOptions{})
	require.NotNil(c, answer)
	assert.Equal(c, "p", answer.GetName())
	assert.Equal(c, 200, code)
}
