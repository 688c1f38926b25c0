package conformance

import (
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// A patch with the UID of another object is invalid, by which controllers know that their
// object was created again, and an update with it is a conflict.
func testPatchOfAnotherUID(c *check) {
	p := mustCreate(c, c.pods, pod("p"))
	patch := func(kind types.PatchType, data string, subresources ...string) error {
		_, err := c.pods.Patch(c.ctx, "p", kind, []byte(data), metav1.PatchOptions{FieldManager: "one"}, subresources...)
		return err
	}
	for _, kind := range []types.PatchType{types.MergePatchType, types.StrategicMergePatchType} {
		for _, subresources := range [][]string{nil, {"status"}} {
			err := patch(kind, `{"metadata":{"uid":"another"}}`, subresources...)
			assert.True(c, apierrors.IsInvalid(err), "%s of %v: %v", kind, subresources, err)
		}
	}
	err := patch(types.ApplyPatchType, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","uid":"another"}}`)
	assert.True(c, apierrors.IsInvalid(err), "apply: %v", err)
	err = patch(types.MergePatchType, `{"metadata":{"uid":"another","resourceVersion":"1"}}`)
	assert.True(c, apierrors.IsConflict(err), "of another version, too: %v", err)
	assert.NoError(c, patch(types.MergePatchType, `{"metadata":{"uid":"`+string(p.UID)+`"}}`))
	p.UID = "another"
	_, err = c.pods.Update(c.ctx, p, metav1.UpdateOptions{})
	assert.True(c, apierrors.IsConflict(err), "update: %v", err)
}

// A patch that makes something else than an object of the kind is invalid, and one that
// cannot be read is a bad request.
func testPatchWithoutAnObject(c *check) {
	mustCreate(c, c.pods, pod("p"))
	patch := func(kind types.PatchType, data string) error {
		_, err := c.pods.Patch(c.ctx, "p", kind, []byte(data), metav1.PatchOptions{})
		return err
	}
	for kind, data := range map[types.PatchType]string{
		types.MergePatchType:          `{"spec":{"priority":"high"}}`,
		types.StrategicMergePatchType: `{"spec":{"priority":"high"}}`,
		types.JSONPatchType:           `[{"op":"add","path":"/spec/priority","value":"high"}]`,
	} {
		err := patch(kind, data)
		assert.True(c, apierrors.IsInvalid(err), "%s: %v", kind, err)
		err = patch(kind, `"text"`)
		assert.True(c, apierrors.IsBadRequest(err), "%s: %v", kind, err)
	}
	err := patch(types.MergePatchType, `[]`)
	assert.True(c, apierrors.IsBadRequest(err), "%v", err)
	_, err = c.pods.Get(c.ctx, "p", metav1.GetOptions{})
	assert.NoError(c, err)
}

// A strategic merge patch with a directive that cannot be read is a bad request. One that does not
// say which element of a list it is for is an internal error.
func testStrategicMergeRefused(c *check) {
	mustCreate(c, c.deployments, deployment("d"))
	for data, code := range map[string]int32{
		`{"spec":{"strategy":{"$retainKeys":"type"}}}`:                             http.StatusBadRequest,
		`{"spec":{"template":{"spec":{"containers":[{"image":"b"}]}}}}`:            http.StatusInternalServerError,
		`{"spec":{"template":{"spec":{"containers":[{"name":"a","image":"b"}]}}}}`: 0,
	} {
		_, err := c.deployments.Patch(c.ctx, "d", types.StrategicMergePatchType, []byte(data), metav1.PatchOptions{})
		var refused apierrors.APIStatus
		if code == 0 {
			assert.NoError(c, err, data)
		} else if assert.ErrorAs(c, err, &refused, data) {
			assert.Equal(c, code, refused.Status().Code, "%s: %v", data, err)
		}
	}
}

// An object names itself in updates, and patches cannot remove its name.
func testUpdateWithoutAName(c *check) {
	client := c.client.CoreV1()
	mustCreate(c, client.Pods(c.ns), pod("p"))
	for _, of := range []string{"", "status"} {
		put := client.RESTClient().Put().Namespace(c.ns).Resource("pods").Name("p")
		if of != "" {
			put.SubResource(of)
		}
		err := put.Body(pod("")).Do(c.ctx).Error()
		assert.True(c, apierrors.IsBadRequest(err), "%q: %v", of, err)
	}
	_, err := client.Pods(c.ns).Patch(c.ctx, "p", types.MergePatchType, []byte(`{"metadata":{"name":null}}`), metav1.PatchOptions{})
	assert.True(c, apierrors.IsBadRequest(err), "%v", err)
}

// An update of a Lease that names no version is invalid, since it might take the Lease from
// another process, and so is one of some other kinds.
func testUpdateOfALease(c *check) {
	leases := c.client.CoordinationV1().Leases(c.ns)
	lease := mustCreate(c, leases, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "l"}})
	lease.Spec.HolderIdentity = ptr.To("me")
	blind := lease.DeepCopy()
	blind.ResourceVersion = ""
	_, err := leases.Update(c.ctx, blind, metav1.UpdateOptions{})
	assert.True(c, apierrors.IsInvalid(err), "%v", err)
	mustUpdate(c, leases, lease)
	mustPatch(c, leases, "l", types.MergePatchType, `{"spec":{"holderIdentity":"you"}}`)

	budgets := c.client.PolicyV1().PodDisruptionBudgets(c.ns)
	budget := mustCreate(c, budgets, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromInt32(1))},
	})
	budget.ResourceVersion = ""
	_, err = budgets.Update(c.ctx, budget, metav1.UpdateOptions{})
	assert.True(c, apierrors.IsInvalid(err), "%v", err)
}

// An update of a Lease that is absent creates it, and so does one of some other kinds.
func testUpdateOfAnAbsentLease(c *check) {
	leases := c.client.CoordinationV1().Leases(c.ns)
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "l"}, Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("me")},
	}
	all := metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}}
	_, err := leases.Update(c.ctx, lease, all)
	require.NoError(c, err)
	_, err = leases.Get(c.ctx, "l", metav1.GetOptions{})
	assert.True(c, apierrors.IsNotFound(err), "%v", err)
	created := mustUpdate(c, leases, lease)
	assert.NotEmpty(c, created.UID)
	assert.Equal(c, lease.Spec, created.Spec)
	assert.Len(c, created.ManagedFields, 1)
	require.NoError(c, leases.Delete(c.ctx, "l", metav1.DeleteOptions{}))

	_, err = leases.Update(c.ctx, created, metav1.UpdateOptions{})
	assert.True(c, apierrors.IsConflict(err), "its UID is a condition: %v", err)
	created.UID = ""
	again := mustUpdate(c, leases, created)
	assert.Greater(c, c.version(again.ResourceVersion), c.version(created.ResourceVersion), "its version is none")
	require.NoError(c, leases.Delete(c.ctx, "l", metav1.DeleteOptions{}))
	_, err = leases.Patch(c.ctx, "l", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
	assert.True(c, apierrors.IsNotFound(err), "a patch creates nothing: %v", err)

	path := "/apis/coordination.k8s.io/v1/namespaces/" + c.ns + "/leases/"
	header := http.Header{"Content-Type": {"application/json"}}
	for name, wanted := range map[string]int{"n": http.StatusCreated, "other": http.StatusBadRequest} {
		code, _, answer := c.do("PUT", path+name, header, `{"metadata":{"name":"n"}}`)
		assert.Equal(c, wanted, code, answer)
	}
	code, _, answer := c.do("PUT", path+"n", header, `{}`)
	assert.Equal(c, http.StatusBadRequest, code, answer)

	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: corev1.ServiceSpec{ClusterIP: "None", Ports: []corev1.ServicePort{{Port: 80}}},
		Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{Hostname: "h"}}}},
	}
	assert.Empty(c, mustUpdate(c, c.client.CoreV1().Services(c.ns), service).Status.LoadBalancer.Ingress, "a create has no status")
	_, err = c.client.PolicyV1().PodDisruptionBudgets(c.ns).Update(c.ctx, &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "b"}}, metav1.UpdateOptions{})
	assert.True(c, apierrors.IsNotFound(err), "%v", err)
}

// An update of an object that is deleted keeps the time of that, whatever the client has.
func testTimeOfADeletion(c *check) {
	mustCreate(c, c.maps, configMap("a", "example.com/waits"))
	require.NoError(c, c.maps.Delete(c.ctx, "a", metav1.DeleteOptions{}))
	deleted := mustGet(c, c.maps, "a")
	changed := deleted.DeepCopy()
	changed.Data["k"] = "w"
	changed.DeletionTimestamp = &metav1.Time{Time: deleted.DeletionTimestamp.Add(time.Hour)}
	got := mustUpdate(c, c.maps, changed)
	assert.Equal(c, changed.Data, got.Data)
	assert.True(c, deleted.DeletionTimestamp.Equal(got.DeletionTimestamp), "%v, %v", deleted.DeletionTimestamp, got.DeletionTimestamp)
	changed = got.DeepCopy()
	changed.DeletionGracePeriodSeconds = ptr.To[int64](7)
	_, err := c.maps.Update(c.ctx, changed, metav1.UpdateOptions{})
	assert.True(c, apierrors.IsInvalid(err), "%v", err)
	c.change(got, func(cm *corev1.ConfigMap) { cm.Finalizers = nil })
}

// A deletion of a collection is of one namespace, and a subresource is not deleted at all.
func testDeleteNotAllowed(c *check) {
	client := c.client.CoreV1()
	c.create("a", nil)
	mustCreate(c, client.Pods(c.ns), pod("p"))
	err := client.ConfigMaps("").DeleteCollection(c.ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "no=such"})
	assert.True(c, apierrors.IsMethodNotSupported(err), "%v", err)
	err = client.RESTClient().Delete().Namespace(c.ns).Resource("pods").Name("p").SubResource("status").Do(c.ctx).Error()
	assert.True(c, apierrors.IsMethodNotSupported(err), "%v", err)
	_, err = client.Pods(c.ns).Get(c.ctx, "p", metav1.GetOptions{})
	assert.NoError(c, err)
	err = client.RESTClient().Delete().Resource("namespaces").Param("labelSelector", "no=such").Do(c.ctx).Error()
	assert.True(c, apierrors.IsMethodNotSupported(err), "%v", err)
	resources, err := c.client.Discovery().ServerResourcesForGroupVersion("v1")
	require.NoError(c, err)
	for _, r := range resources.APIResources {
		if r.Name == "namespaces" {
			assert.NotContains(c, r.Verbs, "deletecollection")
		}
	}
}

// The names of namespaces, Services and StatefulSets are labels, and have no dots.
func testNamesAreLabels(c *check) {
	client := c.client.CoreV1()
	options := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	for name, valid := range map[string]bool{c.ns + "-b": true, c.ns + ".b": false} {
		named := metav1.ObjectMeta{Name: name}
		_, err := client.Namespaces().Create(c.ctx, &corev1.Namespace{ObjectMeta: named}, options)
		assert.Equal(c, !valid, apierrors.IsInvalid(err), "namespace %s: %v", name, err)
		ports := corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}
		_, err = client.Services(c.ns).Create(c.ctx, &corev1.Service{ObjectMeta: named, Spec: ports}, options)
		assert.Equal(c, !valid, apierrors.IsInvalid(err), "service %s: %v", name, err)
		like := deployment(name).Spec
		set := &appsv1.StatefulSet{ObjectMeta: named, Spec: appsv1.StatefulSetSpec{Selector: like.Selector, Template: like.Template}}
		_, err = c.client.AppsV1().StatefulSets(c.ns).Create(c.ctx, set, options)
		assert.Equal(c, !valid, apierrors.IsInvalid(err), "stateful set %s: %v", name, err)
		_, err = client.Secrets(c.ns).Create(c.ctx, &corev1.Secret{ObjectMeta: named}, options)
		assert.NoError(c, err, "secret %s", name)
	}
}

// The names of CronJobs are short, and those of a few kinds are free.
func testNamesOfTheirOwn(c *check) {
	options := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	for length, valid := range map[int]bool{52: true, 53: false} {
		job := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("a", length)}, Spec: batchv1.CronJobSpec{Schedule: "* * * * *"}}
		job.Spec.JobTemplate.Spec.Template.Spec = pod("p").Spec
		job.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		_, err := c.client.BatchV1().CronJobs(c.ns).Create(c.ctx, job, options)
		assert.Equal(c, !valid, apierrors.IsInvalid(err), "%d: %v", length, err)
	}
	free := metav1.ObjectMeta{Name: "system:A", Namespace: c.ns}
	_, err := c.client.CoreV1().Events(c.ns).Create(c.ctx, &corev1.Event{ObjectMeta: free, InvolvedObject: corev1.ObjectReference{Namespace: c.ns}}, options)
	assert.NoError(c, err, "event")
	_, err = c.client.PolicyV1().PodDisruptionBudgets(c.ns).Create(c.ctx, &policyv1.PodDisruptionBudget{ObjectMeta: free}, options)
	assert.NoError(c, err, "budget")
}

// A finalizer of most kinds of Kubernetes has a domain, and one of a custom resource need not.
func testFinalizersWithoutADomain(c *check) {
	plain := configMap("a", "waits")
	_, err := c.maps.Create(c.ctx, plain, metav1.CreateOptions{})
	assert.True(c, apierrors.IsInvalid(err), "create: %v", err)
	plain.Finalizers = nil
	mustCreate(c, c.maps, plain)
	_, err = c.maps.Patch(c.ctx, "a", types.MergePatchType, []byte(`{"metadata":{"finalizers":["waits"]}}`), metav1.PatchOptions{})
	assert.True(c, apierrors.IsInvalid(err), "patch: %v", err)
	for _, finalizer := range []string{"kubernetes", metav1.FinalizerOrphanDependents, "example.com/waits"} {
		_, err := c.maps.Create(c.ctx, configMap("b", finalizer), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		assert.NoError(c, err, finalizer)
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "l", Finalizers: []string{"waits"}}}
	_, err = c.client.CoordinationV1().Leases(c.ns).Create(c.ctx, lease, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	assert.NoError(c, err, "lease")
	custom := c.customObject("a")
	custom.SetFinalizers([]string{"waits"})
	_, err = c.custom().Create(c.ctx, custom, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	assert.NoError(c, err, "custom resource")
}

// Not all kinds with a spec have a generation, and some have one without a spec.
func testKindsWithAGeneration(c *check) {
	core, discovery := c.client.CoreV1(), c.client.DiscoveryV1()
	mustCreate(c, core.Services(c.ns), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: corev1.ServiceSpec{ClusterIP: "None", Ports: []corev1.ServicePort{{Port: 80}}},
	})
	service := mustPatch(c, core.Services(c.ns), "s", types.MergePatchType, `{"spec":{"publishNotReadyAddresses":true}}`)
	assert.True(c, service.Spec.PublishNotReadyAddresses)
	assert.Zero(c, service.Generation)

	slice := mustCreate(c, discovery.EndpointSlices(c.ns), &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Name: "s"}, AddressType: discoveryv1.AddressTypeIPv4,
	})
	assert.EqualValues(c, 1, slice.Generation)
	slice = mustPatch(c, discovery.EndpointSlices(c.ns), "s", types.MergePatchType, `{"endpoints":[{"addresses":["10.0.0.1"]}]}`)
	assert.EqualValues(c, 2, slice.Generation)
}

// Some kinds count changes of metadata, begin at another generation, or end at it.
func testGenerationsOfTheirOwn(c *check) {
	slices, storage, scheduling := c.client.DiscoveryV1().EndpointSlices(c.ns), c.client.StorageV1().CSIDrivers(), c.client.SchedulingV1().PriorityClasses()
	for of, generations := range map[string][2]int64{"labels": {2, 1}, "annotations": {1, 2}} {
		patch := `{"metadata":{"` + of + `":{"a":"b"}}}`
		mustCreate(c, slices, &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Name: of}, AddressType: discoveryv1.AddressTypeIPv4})
		slice := mustPatch(c, slices, of, types.MergePatchType, patch)
		mustCreate(c, c.deployments, deployment(of))
		d := mustPatch(c, c.deployments, of, types.MergePatchType, patch)
		assert.Equal(c, generations, [2]int64{slice.Generation, d.Generation}, of)
	}

	driver := mustCreate(c, storage, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: c.ns}})
	assert.Zero(c, driver.Generation)
	driver = mustPatch(c, storage, c.ns, types.MergePatchType, `{"spec":{"requiresRepublish":true}}`)
	assert.EqualValues(c, 1, driver.Generation)
	assert.NoError(c, storage.Delete(c.ctx, c.ns, metav1.DeleteOptions{}))

	class := mustCreate(c, scheduling, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: c.ns}})
	assert.EqualValues(c, 1, class.Generation)
	class = mustPatch(c, scheduling, c.ns, types.MergePatchType, `{"description":"d"}`)
	assert.EqualValues(c, 1, class.Generation)
	assert.NoError(c, scheduling.Delete(c.ctx, c.ns, metav1.DeleteOptions{}))

	wanted := configMap("a")
	wanted.Generation = 7
	cm := mustCreate(c, c.maps, wanted)
	assert.EqualValues(c, 7, cm.Generation)
	cm = c.change(cm, func(cm *corev1.ConfigMap) { cm.Generation, cm.Data["k"] = 8, "w" })
	assert.EqualValues(c, 7, cm.Generation)
}

// References to owners that repeat another one are dropped.
func testRepeatedOwners(c *check) {
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "o", UID: c.create("o", nil).UID}
	blocking := owner
	blocking.BlockOwnerDeletion = ptr.To(true)
	wanted := configMap("a")
	wanted.OwnerReferences = []metav1.OwnerReference{owner, owner}
	got := mustCreate(c, c.maps, wanted)
	assert.Equal(c, []metav1.OwnerReference{owner}, got.OwnerReferences)
	got = c.change(got, func(cm *corev1.ConfigMap) { cm.OwnerReferences = []metav1.OwnerReference{owner, blocking, owner} })
	assert.Equal(c, []metav1.OwnerReference{owner, blocking}, got.OwnerReferences, "they differ in a field")
	const add = `[{"op":"copy","from":"/metadata/ownerReferences/0","path":"/metadata/ownerReferences/-"}]`
	got = mustPatch(c, c.maps, "a", types.JSONPatchType, add)
	assert.Equal(c, []metav1.OwnerReference{owner, blocking}, got.OwnerReferences)
}
