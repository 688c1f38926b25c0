package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubetyped/informer/internal/test/pods"
)

// The managers that an API server notes in managedFields.
const (
	controllerManager = "kube-controller-manager"
	kubelet           = "kubelet"
)

// Pod returns the Pod of number i as a ReplicaSet controller would create it, with
// the volume that holds its token. Where it is a stranger, it has no owner, which
// the garbage collector of that cluster would look for, and the service account
// that is in every namespace.
func (o Objects) Pod(i int) *corev1.Pod {
	pod := o.whole(i, 1)
	pod.UID, pod.ResourceVersion, pod.Generation = "", "", 0 // the server sets them
	pod.CreationTimestamp, pod.ManagedFields = metav1.Time{}, nil
	pod.Spec.Priority, pod.Spec.PreemptionPolicy, pod.Spec.Tolerations = nil, nil, nil // admission does
	pod.Status = corev1.PodStatus{}
	maps.Copy(pod.Labels, o.Labels)
	if o.Nodes == 0 {
		pod.OwnerReferences, pod.Annotations = nil, nil
		pod.Spec.NodeName = ""
		pod.Spec.ServiceAccountName, pod.Spec.DeprecatedServiceAccount = "default", "default"
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/nowhere"}}
	}
	return pod
}

// whole returns the Pod of number i at a version as it is in a cluster.
func (o Objects) whole(i, version int) *corev1.Pod {
	return pods.Cluster{PerApp: o.PerApp, Namespaces: o.Namespaces, Nodes: max(o.Nodes, 1)}.Pod(i, version)
}

// CreatePod creates the Pod of number i with the client of its namespace, gives up the fields
// that admission adds in a cluster and that have no manager, and writes the status that its
// kubelet reports when it runs. It omits the status if o.Nodes is 0, since programs in the
// cluster could believe its addresses.
func (o Objects) CreatePod(ctx context.Context, i int, client func(namespace string) corev1client.PodInterface) error {
	pod := o.Pod(i)
	if _, err := client(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{FieldManager: controllerManager}); err != nil {
		return err
	}
	created, err := o.disown(ctx, i, client(pod.Namespace))
	if err != nil || o.Nodes == 0 {
		return err
	}
	created.Status = o.whole(i, 1).Status
	_, err = client(pod.Namespace).UpdateStatus(ctx, created, metav1.UpdateOptions{FieldManager: kubelet})
	return err
}

// disown leaves each field of the Pod of number i to who has it in a cluster.
func (o Objects) disown(ctx context.Context, i int, client corev1client.PodInterface) (*corev1.Pod, error) {
	pod := o.whole(i, 1)
	owned := slices.DeleteFunc(pod.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Manager == kubelet })
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"managedFields": owned}})
	if err != nil {
		return nil, fmt.Errorf("encode the managed fields of Pod %d: %w", i, err)
	}
	return client.Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: controllerManager})
}

// CreatePods creates the first n Pods as CreatePod does. It returns the errors of
// Each.
func (o Objects) CreatePods(ctx context.Context, c Crew, n int, client func(namespace string) corev1client.PodInterface) error {
	return c.Each(ctx, "create", "Pods", n, func(ctx context.Context, i int) error { return o.CreatePod(ctx, i, client) })
}

// UpdatePod patches the status of the Pod of number i as its kubelet does for a version, counted
// from 2: its server ceased to be ready, or is ready again. It returns the Pod that the server
// answers with.
func (o Objects) UpdatePod(ctx context.Context, i, version int, client func(namespace string) corev1client.PodInterface) (*corev1.Pod, error) {
	pod := o.whole(i, version)
	before, err := o.report(i, version-1)
	if err != nil {
		return nil, err
	}
	now, err := o.report(i, version)
	if err != nil {
		return nil, err
	}
	patch, err := strategicpatch.CreateTwoWayMergePatch(before, now, corev1.Pod{})
	if err != nil {
		return nil, fmt.Errorf("compare two states of Pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return client(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: kubelet}, "status")
}

// report returns what a kubelet says of a Pod with a version, of a stranger its
// conditions alone.
func (o Objects) report(i, version int) ([]byte, error) {
	status := o.whole(i, version).Status
	if o.Nodes == 0 {
		status = corev1.PodStatus{Conditions: status.Conditions}
	}
	report, err := json.Marshal(&corev1.Pod{Status: status})
	if err != nil {
		return nil, fmt.Errorf("encode the status of Pod %d: %w", i, err)
	}
	return report, nil
}
