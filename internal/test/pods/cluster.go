// Package pods makes Pods as API servers send them, for benchmarks and for clusters that tests
// fill: they differ and agree in the same fields as the Pods of a real cluster.
//
// A Pod has its own name, UID, addresses, token volume (kube-api-access-…, which
// each of its containers mounts), container IDs, times, annotations of the
// network plugin, and managedFields, in which the kubelet's entry names the
// Pod's address. The Pods of an application have in common what a ReplicaSet
// makes of its template; applications differ in names, images, settings,
// resources, and the number of containers, two or three. Nodes, namespaces and
// what Kubernetes puts into every Pod repeat in the whole cluster.
package pods

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The labels of all Pods, except the hash that a Deployment adds. The last has few values.
const (
	AppLabel     = "app"
	VersionLabel = "version"
	TierLabel    = "tier"
)

// DefaultPerApp is the number of Pods of an application where nothing else is
// said.
const DefaultPerApp = 50

// Cluster makes the Pods of a cluster. It keeps none of them: each call makes new ones, equal
// for the same cluster, and the caller owns them.
type Cluster struct {
	// Seed makes one cluster different from another in all that is random: UIDs,
	// hashes, suffixes, nodes and times.
	Seed uint64
	// PerApp is the number of Pods of an application, DefaultPerApp if it is 0.
	PerApp int
	// Namespaces are the names of the namespaces, at least one. Applications
	// take turns in them.
	Namespaces []string
	// Nodes is the number of Nodes that the Pods are on, at least one.
	Nodes int
}

// Pod returns Pod number i at a version; versions count from 1. Each is what the
// kubelet reports next: the server of the Pod becomes ready with every odd
// version and ceases to be with every even one, which changes two conditions, the
// status of a container, the time of the kubelet's managedFields and the resource
// version.
func (c Cluster) Pod(i, version int) *corev1.Pod {
	p := c.pod(i)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:      p.replicaSet() + "-",
			Generation:        1,
			CreationTimestamp: metav1.NewTime(p.created()),
			Annotations:       p.annotations(),
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: p.replicaSet(), UID: uid(p.app.random(ofUID)),
				Controller: new(true), BlockOwnerDeletion: new(true),
			}},
		},
		Spec:   p.spec(),
		Status: p.status(version),
	}
	pod.ManagedFields = p.managedFields(&pod.Spec, version)
	p.identify(pod, version)
	return pod
}

// Outline returns Pod number i at a version as far as programs look at it that only hold Pods:
// what identifies it, and its labels, Node and addresses, each a separate string. It shares all
// other fields with template, so that a million Pods fit into memory.
func (c Cluster) Outline(template *corev1.Pod, i, version int) *corev1.Pod {
	pod := *template
	c.pod(i).identify(&pod, version)
	return &pod
}

// AppOf returns the number of the application of Pod number i.
func (c Cluster) AppOf(i int) int {
	if c.PerApp == 0 {
		return i / DefaultPerApp
	}
	return i / c.PerApp
}
