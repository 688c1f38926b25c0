package conformance

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/ptr"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// answering is a client, and an informer of Pods that takes its answers.
type answering struct {
	*check
	writes *kube.Writes
	client kubernetes.Interface
	pods   *typed.Informer[*corev1.Pod]
}

// testAnswersTaken checks an informer with own writes after each kind of write. Each kind is a
// row, with the same result on all servers.
func testAnswersTaken(c *check) {
	a := &answering{check: c, writes: kube.NewWrites()}
	config := a.writes.Config(c.config)
	var err error
	a.client, err = kubernetes.NewForConfig(config)
	require.NoError(c, err)
	a.pods = typed.NewInformer(kube.FromClient(a.client.CoreV1().Pods(c.ns), kube.WithWrites(a.writes)))
	deployments := typed.NewInformer(kube.FromClient(a.client.AppsV1().Deployments(c.ns), kube.WithWrites(a.writes)))
	ctx, cancel := context.WithCancel(c.ctx)
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(c, a.pods.Run(ctx)) })
	running.Go(func() { assert.NoError(c, deployments.Run(ctx)) })
	defer running.Wait()
	defer cancel()
	require.NoError(c, a.pods.WaitForSync(c.ctx))
	require.NoError(c, deployments.WaitForSync(c.ctx))

	a.states()
	a.deletions()
	a.nothing()
	meta, err := metadata.NewForConfig(config)
	require.NoError(c, err)
	a.row("metadata", "form", func(a *answering) {
		pods := meta.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace(c.ns)
		mustPatch(a.check, pods, "kept", types.MergePatchType, `{"metadata":{"labels":{"x":"y"}}}`)
	})
	mustCreate(c, a.client.AppsV1().Deployments(c.ns), deployment("d"))
	a.row("scale", "subresource", func(a *answering) {
		_, err := a.client.AppsV1().Deployments(c.ns).UpdateScale(a.ctx, "d", &autoscalingv1.Scale{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.ns, Name: "d"}, Spec: autoscalingv1.ScaleSpec{Replicas: 3},
		}, metav1.UpdateOptions{})
		require.NoError(a, err)
	})

	last := mustCreate(c, a.client.CoreV1().Pods(c.ns), pod("last"))
	require.NoError(c, a.pods.WaitForResourceVersion(c.ctx, last.ResourceVersion))
	list, err := a.client.CoreV1().Pods(c.ns).List(c.ctx, metav1.ListOptions{})
	require.NoError(c, err)
	assert.Equal(c, len(list.Items), a.pods.Len())
	assert.Zero(c, a.pods.Status().Ahead)
	for i := range list.Items {
		got, _ := a.pods.Get(index.KeyOf(&list.Items[i]))
		assert.Equal(c, &list.Items[i], got)
	}
}

// row runs a write in a subtest: its answer is taken, or left to the watch for the reason.
func (a *answering) row(name, reason string, write func(a *answering)) {
	a.Run(name, func(t *testing.T) {
		own := *a
		own.check = a.sub(t)
		before := a.writes.Status()
		write(&own)
		after := a.writes.Status()
		taken, leftOut := after.Taken+after.Ignored-before.Taken-before.Ignored, map[string]uint64{}
		for reason, n := range after.LeftOut {
			if n -= before.LeftOut[reason]; n > 0 {
				leftOut[reason] = n
			}
		}
		if reason == "" {
			assert.EqualValues(t, 1, taken)
			assert.Empty(t, leftOut)
		} else {
			assert.Zero(t, taken)
			assert.Equal(t, map[string]uint64{reason: 1}, leftOut)
		}
	})
}

// state checks that a Pod is read as it was answered, or in a later state.
func (a *answering) state(answer *corev1.Pod, err error) {
	a.Helper()
	require.NoError(a, err)
	got, ok := a.pods.Get(index.KeyOf(answer))
	if assert.True(a, ok) {
		assert.GreaterOrEqual(a, a.version(got.ResourceVersion), a.version(answer.ResourceVersion))
		assert.Equal(a, answer.UID, got.UID)
		assert.Equal(a, answer.Labels, got.Labels)
		assert.Equal(a, answer.Status.Phase, got.Status.Phase)
	}
}

// gone checks that a Pod is not in the store.
func (a *answering) gone(name string) {
	a.Helper()
	_, ok := a.pods.Get(index.Key{Namespace: a.ns, Name: name})
	assert.False(a, ok)
}

// marked checks that a Pod is in the store, marked as deleted.
func (a *answering) marked(name string) {
	a.Helper()
	got, ok := a.pods.Get(index.Key{Namespace: a.ns, Name: name})
	if assert.True(a, ok) {
		assert.NotNil(a, got.DeletionTimestamp)
	}
}

func (a *answering) states() {
	api := a.client.CoreV1().Pods(a.ns)
	var kept *corev1.Pod
	a.row("create", "", func(a *answering) {
		var err error
		kept, err = api.Create(a.ctx, pod("kept"), metav1.CreateOptions{})
		a.state(kept, err)
	})
	a.row("update", "", func(a *answering) {
		changed := kept.DeepCopy()
		changed.Labels = map[string]string{"by": "update"}
		a.state(api.Update(a.ctx, changed, metav1.UpdateOptions{}))
	})
	patch := func(a *answering) {
		a.state(api.Patch(a.ctx, "kept", types.MergePatchType, []byte(`{"metadata":{"labels":{"by":"patch"}}}`), metav1.PatchOptions{}))
	}
	a.row("patch", "", patch)
	a.row("patch that changes nothing", "", patch)
	a.row("apply", "", func(a *answering) {
		apply := applycorev1.Pod("kept", a.ns).WithLabels(map[string]string{"applied": "yes"})
		a.state(api.Apply(a.ctx, apply, metav1.ApplyOptions{FieldManager: "test", Force: true}))
	})
	a.row("status", "", func(a *answering) {
		a.state(api.Patch(a.ctx, "kept", types.MergePatchType, []byte(`{"status":{"phase":"Running"}}`), metav1.PatchOptions{}, "status"))
	})
}

func (a *answering) deletions() {
	api := a.client.CoreV1().Pods(a.ns)
	create := func(name, node string, finalizers ...string) {
		wanted := pod(name)
		wanted.Spec.NodeName, wanted.Finalizers = node, finalizers
		mustCreate(a.check, api, wanted)
	}
	remove := func(a *answering, name string, grace *int64) {
		require.NoError(a, api.Delete(a.ctx, name, metav1.DeleteOptions{GracePeriodSeconds: grace}))
	}
	release := func(a *answering, name string) *corev1.Pod {
		return mustPatch(a.check, api, name, types.MergePatchType, `{"metadata":{"finalizers":null}}`)
	}
	create("plain", "")
	a.row("delete", "", func(a *answering) {
		remove(a, "plain", nil)
		a.gone("plain")
	})
	create("held", "", "example.com/hold")
	a.row("delete that a finalizer holds", "", func(a *answering) {
		remove(a, "held", nil)
		a.marked("held")
	})
	a.row("removal of the last finalizer", "", func(a *answering) {
		assert.Equal(a, mustGet(a.check, api, "held").ResourceVersion, release(a, "held").ResourceVersion, "the old version")
		a.gone("held")
	})
	create("graceful", "nowhere")
	a.row("delete with a grace period", "", func(a *answering) {
		remove(a, "graceful", nil)
		a.marked("graceful")
	})
	a.row("end of a grace period", "", func(a *answering) {
		remove(a, "graceful", ptr.To[int64](0))
		a.gone("graceful")
	})
	create("both", "nowhere", "example.com/hold")
	a.row("delete that both hold", "", func(a *answering) {
		remove(a, "both", nil)
		a.marked("both")
	})
	a.row("removal of the last finalizer in a grace period", "", func(a *answering) {
		a.state(release(a, "both"), nil)
		a.marked("both")
	})
	a.row("delete of another UID", "failed", func(a *answering) {
		err := api.Delete(a.ctx, "both", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: ptr.To[types.UID]("other")}})
		assert.True(a, apierrors.IsConflict(err), "%v", err)
		a.marked("both")
	})
}

func (a *answering) nothing() {
	api := a.client.CoreV1().Pods(a.ns)
	dry := []string{metav1.DryRunAll}
	a.row("dry run", "dry run", func(a *answering) {
		_, err := api.Create(a.ctx, pod("dry"), metav1.CreateOptions{DryRun: dry})
		require.NoError(a, err)
		a.gone("dry")
	})
	a.row("dry run of a delete", "dry run", func(a *answering) {
		require.NoError(a, api.Delete(a.ctx, "kept", metav1.DeleteOptions{DryRun: dry}))
		_, ok := a.pods.Get(index.Key{Namespace: a.ns, Name: "kept"})
		assert.True(a, ok)
	})
	a.row("failure", "failed", func(a *answering) {
		_, err := api.Create(a.ctx, pod("kept"), metav1.CreateOptions{})
		assert.True(a, apierrors.IsAlreadyExists(err), "%v", err)
	})
	a.row("deletecollection", "collection", func(a *answering) {
		require.NoError(a, api.DeleteCollection(a.ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "no=such"}))
	})
	a.row("binding", "subresource", func(a *answering) {
		require.NoError(a, api.Bind(a.ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "kept"}, Target: corev1.ObjectReference{Kind: "Node", Name: "nowhere"}}, metav1.CreateOptions{}))
	})
	a.row("eviction", "subresource", func(a *answering) {
		require.NoError(a, api.EvictV1(a.ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "kept", Namespace: a.ns}}))
	})
}
