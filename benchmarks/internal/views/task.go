// Package views is what benchmarks of computed collections have in common: the
// objects, what is to be computed of them, and two of the sides, package typed/view
// and code written by hand on client-go's informers.
package views

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubetyped/informer/index"
)

// Object is what sides read, and what an API server has.
type Object interface {
	metav1.Object
	runtime.Object
}

// Endpoints are the addresses of the ready Pods that a Service selects.
type Endpoints struct {
	Namespace, Name string
	Ready           []Address
}

// Address is where a Pod is reached.
type Address struct{ IP, Node string }

// EndpointsOf returns the endpoints of a Service with the Pods that it selects, which
// come in the order of their names.
func EndpointsOf(service *corev1.Service, pods iter.Seq[*corev1.Pod]) *Endpoints {
	e := &Endpoints{Namespace: service.Namespace, Name: service.Name}
	for pod := range pods {
		if isReady(pod) {
			e.Ready = append(e.Ready, Address{pod.Status.PodIP, pod.Spec.NodeName})
		}
	}
	return e
}

func isReady(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// Placement is a Pod, and the zone and state of its Node.
type Placement struct {
	Namespace, Name string
	Zone            string
	Cordoned        bool
}

// PlacementOf returns the placement of a Pod on a Node, nil if there is no such Node.
func PlacementOf(pod *corev1.Pod, node *corev1.Node) *Placement {
	p := &Placement{Namespace: pod.Namespace, Name: pod.Name}
	if node != nil {
		p.Zone, p.Cordoned = node.Labels[corev1.LabelTopologyZone], node.Spec.Unschedulable
	}
	return p
}

// Applied are the policies that select a Pod.
type Applied struct {
	Namespace, Name string
	PodVersion      string
	Policies        []PolicyVersion
}

// PolicyVersion is a policy at a version.
type PolicyVersion struct{ Name, Version string }

// AppliedTo returns the policies that select a Pod, which come in the order of their
// names.
func AppliedTo(pod *corev1.Pod, policies iter.Seq[*networkingv1.NetworkPolicy]) *Applied {
	a := &Applied{Namespace: pod.Namespace, Name: pod.Name, PodVersion: pod.ResourceVersion}
	for policy := range policies {
		a.Policies = append(a.Policies, PolicyVersion{policy.Name, policy.ResourceVersion})
	}
	return a
}

// ByName sorts objects of one namespace, as sides do that find them in no order.
func ByName[T index.Object](objects []T) []T {
	slices.SortFunc(objects, func(a, b T) int { return strings.Compare(a.GetName(), b.GetName()) })
	return objects
}

func (e *Endpoints) GetNamespace() string { return e.Namespace }
func (e *Endpoints) GetName() string      { return e.Name }
func (p *Placement) GetNamespace() string { return p.Namespace }
func (p *Placement) GetName() string      { return p.Name }
func (a *Applied) GetNamespace() string   { return a.Namespace }
func (a *Applied) GetName() string        { return a.Name }

// Equal is what all sides compare results by.
func (e *Endpoints) Equal(other *Endpoints) bool {
	return e.Namespace == other.Namespace && e.Name == other.Name && slices.Equal(e.Ready, other.Ready)
}

// Equal is what all sides compare results by.
func (p *Placement) Equal(other *Placement) bool { return *p == *other }

// Equal is what all sides compare results by.
func (a *Applied) Equal(other *Applied) bool {
	return a.Namespace == other.Namespace && a.Name == other.Name && a.PodVersion == other.PodVersion && slices.Equal(a.Policies, other.Policies)
}

// Result is an object that is computed.
type Result[T any] interface {
	index.Object
	Equal(other T) bool
}

// Sorted returns results in the order of their namespaces and names.
func Sorted[T index.Object](results iter.Seq[T]) []T {
	return slices.SortedFunc(results, func(a, b T) int {
		return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
	})
}
