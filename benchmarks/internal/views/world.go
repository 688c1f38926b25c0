package views

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/internal/test/pods"
)

// World is the objects of a cluster: Pods as clusters have them, in 100 namespaces and on
// 1,000 Nodes, and what selects them. All of it is made once, and shared by the sides.
type World struct {
	Pods     []*corev1.Pod
	Services []*corev1.Service // one for each application
	Nodes    []*corev1.Node
	Policies []*networkingv1.NetworkPolicy // every other one selects a whole namespace

	cluster *cluster.Cluster
}

// NewWorld returns a cluster of so many Pods, so many to an application, with so many
// policies.
func NewWorld(size, perApp, policies int) *World {
	w := &World{cluster: cluster.New(size, perApp)}
	w.Pods = w.cluster.Pods(1)
	for app := range size / perApp {
		w.Services = append(w.Services, w.service(app, 1))
	}
	for node := range cluster.Nodes {
		w.Nodes = append(w.Nodes, w.node(node, 1))
	}
	for policy := range policies {
		w.Policies = append(w.Policies, w.policy(policy, 1))
	}
	return w
}

// app returns the namespace and label of an application.
func (w *World) app(app int) (namespace, label string) {
	return cluster.NamespaceName(app % cluster.Namespaces), pods.AppName(app)
}

func meta(namespace, name string, version int) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: strconv.Itoa(version * 1_000_000)}
}

// service returns a Service, which selects its own application with odd versions, and
// another one of its namespace with even ones.
func (w *World) service(app, version int) *corev1.Service {
	namespace, name := w.app(app)
	_, selects := w.app((app + (1-version%2)*cluster.Namespaces) % (w.cluster.Size / w.cluster.PerApp))
	return &corev1.Service{ObjectMeta: meta(namespace, name, version), Spec: corev1.ServiceSpec{Selector: map[string]string{pods.AppLabel: selects}}}
}

// node returns a Node, which is cordoned with even versions.
func (w *World) node(node, version int) *corev1.Node {
	made := &corev1.Node{ObjectMeta: meta("", cluster.NodeName(node), version)}
	made.Labels = map[string]string{corev1.LabelTopologyZone: fmt.Sprint("zone-", node%3)}
	made.Spec.Unschedulable = version%2 == 0
	return made
}

// policy returns a policy at a version. Versions differ in nothing else.
func (w *World) policy(policy, version int) *networkingv1.NetworkPolicy {
	apps := w.cluster.Size / w.cluster.PerApp
	namespace, label := w.app(policy % apps)
	made := &networkingv1.NetworkPolicy{ObjectMeta: meta(namespace, fmt.Sprintf("policy-%03d", policy), version)}
	if policy%2 == 1 {
		made.Spec.PodSelector.MatchLabels = map[string]string{pods.AppLabel: label}
	}
	return made
}

// PodChanges returns changes of the readiness of so many Pods, of an application each,
// and the same changed back.
func (w *World) PodChanges(n int) []*corev1.Pod {
	return twice(n, func(app, version int) *corev1.Pod {
		return w.pod(app*w.cluster.PerApp+app%w.cluster.PerApp, version)
	})
}

// twice returns so many objects at version 2, and then at version 3.
func twice[T any](n int, object func(i, version int) T) (changes []T) {
	for version := 2; version <= 3; version++ {
		for i := range n {
			changes = append(changes, object(i, version))
		}
	}
	return changes
}

// pod returns a Pod, which is ready with odd versions.
func (w *World) pod(i, version int) *corev1.Pod {
	pod := w.cluster.Pod(i, version)
	conditions := slices.Clone(pod.Status.Conditions)
	for j := range conditions {
		if c := &conditions[j]; c.Type == corev1.PodReady && version%2 == 0 {
			c.Status = corev1.ConditionFalse
		}
	}
	pod.Status.Conditions = conditions
	return pod
}

// ServiceChanges returns changes of the selectors of so many Services, and the same
// changed back.
func (w *World) ServiceChanges(n int) []*corev1.Service { return twice(n, w.service) }

// NodeChanges returns changes of so many Nodes, and the same changed back.
func (w *World) NodeChanges(n int) []*corev1.Node { return twice(n, w.node) }

// PolicyChanges returns two changes of all policies.
func (w *World) PolicyChanges() []*networkingv1.NetworkPolicy {
	return twice(len(w.Policies), w.policy)
}

// AllPodChanges returns two changes of all Pods.
func (w *World) AllPodChanges() []*corev1.Pod {
	var changes []*corev1.Pod
	for version := 2; version <= 3; version++ {
		for _, i := range w.cluster.Shuffled(uint64(version)) {
			changes = append(changes, w.pod(i, version))
		}
	}
	return changes
}

// selected returns the number of Pods that a policy selects.
func (w *World) selected() (n int) {
	selects := map[app]bool{}
	for _, policy := range w.Policies {
		selects[app{policy.Namespace, policy.Spec.PodSelector.MatchLabels[pods.AppLabel]}] = true
	}
	for _, pod := range w.Pods {
		if selects[app{pod.Namespace, ""}] || selects[app{pod.Namespace, pod.Labels[pods.AppLabel]}] {
			n++
		}
	}
	return n
}

// OnNode returns the number of Pods on each Node.
func (w *World) OnNode() map[string]int {
	on := map[string]int{}
	for _, pod := range w.Pods {
		on[pod.Spec.NodeName]++
	}
	return on
}
