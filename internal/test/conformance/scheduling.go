package conformance

import (
	"net/http"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
)

func binding(pod, node string) *corev1.Binding {
	return &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod}, Target: corev1.ObjectReference{Kind: "Node", Name: node}}
}

// A binding puts a Pod on a node, once, and no field manager owns what it changes.
func testBinding(c *check) {
	created := mustCreate(c, c.pods, pod("p"))
	w := c.watchOf(c.pods, metav1.ListOptions{ResourceVersion: created.ResourceVersion})
	b := binding("p", "n")
	b.Annotations, b.Labels = map[string]string{"example.com/a": "b"}, map[string]string{"zone": "z"}
	require.NoError(c, c.pods.Bind(c.ctx, b, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}))
	assert.Equal(c, created, mustGet(c, c.pods, "p"), "a dry run")
	require.NoError(c, c.pods.Bind(c.ctx, b, metav1.CreateOptions{}))
	bound := c.nextOf(w, watch.Modified, "p", "").Object.(*corev1.Pod)
	assert.Equal(c, "n", bound.Spec.NodeName)
	assert.Equal(c, "b", bound.Annotations["example.com/a"])
	assert.Equal(c, map[string]string{"zone": "z"}, bound.Labels)
	assert.Equal(c, created.Generation, bound.Generation)
	assert.Equal(c, created.ManagedFields, bound.ManagedFields)
	if i := len(bound.Status.Conditions) - 1; assert.GreaterOrEqual(c, i, 0) {
		scheduled := bound.Status.Conditions[i]
		assert.False(c, scheduled.LastTransitionTime.IsZero())
		scheduled.LastTransitionTime = metav1.Time{}
		assert.Equal(c, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, scheduled)
	}
	err := c.pods.Bind(c.ctx, binding("p", "m"), metav1.CreateOptions{})
	assert.True(c, apierrors.IsConflict(err), "on a node already: %v", err)
	assert.Equal(c, bound, mustGet(c, c.pods, "p"))
}

func testBindingRefused(c *check) {
	old := mustCreate(c, c.pods, pod("p"))
	mustPatch(c, c.pods, "p", types.MergePatchType, `{"metadata":{"labels":{"a":"b"}}}`)
	gated := pod("gated")
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/gate"}}
	mustCreate(c, c.pods, gated)
	deleted := pod("deleted")
	deleted.Finalizers = []string{"example.com/waits"}
	mustCreate(c, c.pods, deleted)
	require.NoError(c, c.pods.Delete(c.ctx, "deleted", metav1.DeleteOptions{}))
	for _, row := range []struct {
		why    string
		change func(*corev1.Binding)
		code   int
	}{
		{"absent", func(b *corev1.Binding) { b.Name = "absent" }, http.StatusNotFound},
		{"scheduling gates", func(b *corev1.Binding) { b.Name = "gated" }, http.StatusConflict},
		{"deleted", func(b *corev1.Binding) { b.Name = "deleted" }, http.StatusConflict},
		{"another UID", func(b *corev1.Binding) { b.UID = "another" }, http.StatusConflict},
		{"an old version", func(b *corev1.Binding) { b.ResourceVersion = old.ResourceVersion }, http.StatusConflict},
		{"no node", func(b *corev1.Binding) { b.Target.Name = "" }, http.StatusInternalServerError},
		{"no name of a node", func(b *corev1.Binding) { b.Target.Name = "_" }, http.StatusInternalServerError},
		{"no kind of nodes", func(b *corev1.Binding) { b.Target.Kind = "Pod" }, http.StatusInternalServerError},
		{"another namespace", func(b *corev1.Binding) { b.Namespace = "another" }, http.StatusBadRequest},
	} {
		b := binding("p", "n")
		row.change(b)
		err := c.pods.Bind(c.ctx, b, metav1.CreateOptions{})
		var refused apierrors.APIStatus
		if assert.ErrorAs(c, err, &refused, row.why) {
			assert.EqualValues(c, row.code, refused.Status().Code, "%s: %v", row.why, err)
		}
	}
	path := "/api/v1/namespaces/" + c.ns + "/pods/p/binding"
	code, _, answer := c.do("POST", path, http.Header{"Content-Type": {"application/json"}}, `{"metadata":{"name":"other"},"target":{"name":"n"}}`)
	assert.Equal(c, http.StatusBadRequest, code, answer)
	code, _, answer = c.do("GET", path, nil, "")
	assert.Equal(c, http.StatusMethodNotAllowed, code, answer)
	code, _, answer = c.do("POST", path, http.Header{"Content-Type": {"application/json"}}, `{"metadata":{"name":"p"},"target":{"name":"n"}}`)
	assert.Equal(c, http.StatusCreated, code, answer)
	assert.Contains(c, answer, `"Success"`)
	assert.Contains(c, answer, `201`)
}

func eviction(pod string, options *metav1.DeleteOptions) *policyv1.Eviction {
	return &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod}, DeleteOptions: options}
}

// An eviction marks a Pod, and deletes it as a delete does.
func testEviction(c *check) {
	created := mustCreate(c, c.pods, pod("p"))
	err := c.pods.EvictV1(c.ctx, eviction("p", &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{
		UID: ptr.To[types.UID]("another"), ResourceVersion: &created.ResourceVersion, // without it, a server tries for ten seconds
	}}))
	assert.True(c, apierrors.IsConflict(err), "%v", err)
	require.NoError(c, c.pods.EvictV1(c.ctx, eviction("p", &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})))
	assert.Equal(c, created, mustGet(c, c.pods, "p"), "a dry run")
	w := c.watchOf(c.pods, metav1.ListOptions{ResourceVersion: created.ResourceVersion})
	require.NoError(c, c.pods.EvictV1(c.ctx, eviction("p", &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{
		UID: &created.UID, ResourceVersion: &created.ResourceVersion,
	}})))
	marked := c.nextOf(w, watch.Modified, "p", "").Object.(*corev1.Pod)
	assert.Nil(c, marked.DeletionTimestamp)
	assert.Equal(c, created.ManagedFields, marked.ManagedFields)
	if i := len(marked.Status.Conditions) - 1; assert.GreaterOrEqual(c, i, 0) {
		condition := marked.Status.Conditions[i]
		assert.Equal(c, corev1.DisruptionTarget, condition.Type)
		assert.Equal(c, corev1.ConditionTrue, condition.Status)
		assert.Equal(c, "EvictionByEvictionAPI", condition.Reason)
	}
	for { // one that has no time to stop is marked first
		e := c.next(w)
		if e.Type == watch.Deleted {
			break
		}
	}
	assertNotFound(c, c.pods, "p")
	err = c.pods.EvictV1(c.ctx, eviction("p", nil))
	assert.True(c, apierrors.IsNotFound(err), "%v", err)
	mustCreate(c, c.pods, pod("stays"))
	err = c.pods.EvictV1(c.ctx, eviction("stays", &metav1.DeleteOptions{PropagationPolicy: ptr.To[metav1.DeletionPropagation]("Sideways")}))
	assert.True(c, apierrors.IsInvalid(err), "%v", err)
	mustGet(c, c.pods, "stays")

	onNode := pod("on-node")
	onNode.Spec.NodeName = "nowhere"
	mustCreate(c, c.pods, onNode)
	require.NoError(c, c.pods.EvictV1beta1(c.ctx, &policyv1beta1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Name: "on-node"}, DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](7)},
	}))
	assert.EqualValues(c, 7, *mustGet(c, c.pods, "on-node").DeletionGracePeriodSeconds)

	for _, version := range []string{"v1", "v1beta1"} {
		code, _, answer := c.do("POST", "/api/v1/namespaces/"+c.ns+"/pods/on-node/eviction", http.Header{"Content-Type": {"application/json"}},
			`{"apiVersion":"policy/`+version+`","kind":"Eviction","metadata":{"name":"other"}}`)
		assert.Equal(c, http.StatusBadRequest, code, answer)
		assert.Contains(c, answer, "name in URL does not match", version)
	}
}

// An eviction takes a disruption from the budget of a Pod that runs.
func testEvictionBudget(c *check) {
	budgets := c.client.PolicyV1().PodDisruptionBudgets(c.ns)
	budget := func(name string) *policyv1.PodDisruptionBudget {
		return mustCreate(c, budgets, &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: policyv1.PodDisruptionBudgetSpec{
				MinAvailable: ptr.To(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}},
			},
		})
	}
	running := func(name string, ready corev1.ConditionStatus) *corev1.Pod {
		p := pod(name)
		p.Labels = map[string]string{"app": "a"}
		p = mustCreate(c, c.pods, p)
		p.Status.Phase, p.Status.Conditions = corev1.PodRunning, []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
		p, err := c.pods.UpdateStatus(c.ctx, p, metav1.UpdateOptions{})
		require.NoError(c, err)
		return p
	}
	evict := func(name string) error { return c.pods.EvictV1(c.ctx, eviction(name, nil)) }
	b := budget("b")
	running("p", corev1.ConditionTrue)
	running("q", corev1.ConditionTrue)
	running("unready", corev1.ConditionFalse)
	err := c.client.CoreV1().RESTClient().Post().Namespace(c.ns).Resource("pods").Name("p").SubResource("eviction").
		Body(eviction("p", nil)).MaxRetries(0).Do(c.ctx).Error()
	assert.True(c, apierrors.IsTooManyRequests(err), "no controller has seen the budget: %v", err)
	assert.True(c, apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause), "%v", err)
	seconds, _ := apierrors.SuggestsClientDelay(err)
	assert.Equal(c, 10, seconds)

	b.Status = policyv1.PodDisruptionBudgetStatus{
		ObservedGeneration: b.Generation, DisruptionsAllowed: 1, CurrentHealthy: 2, DesiredHealthy: 1, ExpectedPods: 3,
	}
	b, err = budgets.UpdateStatus(c.ctx, b, metav1.UpdateOptions{FieldManager: "one"})
	require.NoError(c, err)
	require.NoError(c, evict("unready"), "it takes none")
	assert.Equal(c, b, mustGet(c, budgets, "b"))
	require.NoError(c, c.pods.EvictV1(c.ctx, eviction("p", &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})))
	assert.Equal(c, b, mustGet(c, budgets, "b"))
	require.NoError(c, evict("p"))
	assertNotFound(c, c.pods, "p")
	spent := mustGet(c, budgets, "b")
	assert.Zero(c, spent.Status.DisruptionsAllowed)
	assert.Contains(c, spent.Status.DisruptedPods, "p")
	if assert.Len(c, spent.Status.Conditions, 1) {
		assert.Equal(c, policyv1.InsufficientPodsReason, spent.Status.Conditions[0].Reason)
	}
	err = evict("q")
	assert.True(c, apierrors.IsTooManyRequests(err), "%v", err)
	assert.True(c, apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause), "%v", err)
	_, err = c.pods.Get(c.ctx, "q", metav1.GetOptions{})
	require.NoError(c, err)
	budget("another")
	err = evict("q")
	assert.ErrorContains(c, err, "more than one PodDisruptionBudget")
	_, err = c.pods.Patch(c.ctx, "q", types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`), metav1.PatchOptions{}, "status")
	require.NoError(c, err)
	require.NoError(c, evict("q"), "it has ended")
}
