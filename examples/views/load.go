package main

import (
	"fmt"
	"iter"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubetyped/informer/typed/view"
)

// Load is what the Pods of a Node ask for, and how much of it the Node has left, as a
// scheduler wants to know.
type Load struct {
	view.Named
	Requests
	FreeCPU, FreeMemory resource.Quantity
}

func (l *Load) String() string {
	return fmt.Sprintf("load of %s: %s; %s CPU and %s left", l.Name, l.Requests, &l.FreeCPU, &l.FreeMemory)
}

// requestsOf is a sum: what is asked for on a Node, or in a namespace.
type requestsOf struct {
	view.Named
	Requests
}

// Requests is what a number of Pods ask for.
type Requests struct {
	Pods        int
	CPU, Memory resource.Quantity
}

func (r Requests) String() string {
	return fmt.Sprintf("%d Pods, %s CPU, %s memory", r.Pods, &r.CPU, &r.Memory)
}

// requestSum adds up Pods, and takes them out of the sum again: a Pod that comes, goes or
// changes costs itself, however many others there are.
var requestSum = view.Fold[*corev1.Pod, Requests]{
	Add: func(sum *Requests, p *corev1.Pod) {
		sum.Pods++
		for _, c := range p.Spec.Containers {
			sum.CPU.Add(*c.Resources.Requests.Cpu())
			sum.Memory.Add(*c.Resources.Requests.Memory())
		}
	},
	Remove: func(sum *Requests, p *corev1.Pod) {
		sum.Pods--
		for _, c := range p.Spec.Containers {
			sum.CPU.Sub(*c.Resources.Requests.Cpu())
			sum.Memory.Sub(*c.Resources.Requests.Memory())
		}
	},
}

// copyOf returns a copy of a sum, which keeps changing.
func copyOf(sum *Requests) Requests {
	return Requests{sum.Pods, sum.CPU.DeepCopy(), sum.Memory.DeepCopy()}
}

// loadOf is the Load of each Node, also of one without Pods.
func loadOf(nodes *view.View[*corev1.Node], pods *view.View[*corev1.Pod]) *view.View[*Load] {
	sums := view.Reduce(pods, view.One(nodeOfLivePod), requestSum,
		func(node string, sum *Requests, _ int) (*requestsOf, bool) {
			return &requestsOf{view.Named{Name: node}, copyOf(sum)}, true
		}, view.WithName("requests by node"))

	return view.JoinOn(nodes, sums, view.Name[*corev1.Node](), view.Name[*requestsOf](),
		func(n *corev1.Node, sums iter.Seq[*requestsOf]) (*Load, bool) {
			l := &Load{Named: view.NamedAs(n), FreeCPU: n.Status.Allocatable.Cpu().DeepCopy(), FreeMemory: n.Status.Allocatable.Memory().DeepCopy()}
			for sum := range sums {
				l.Requests = sum.Requests
				l.FreeCPU.Sub(sum.CPU)
				l.FreeMemory.Sub(sum.Memory)
			}
			return l, true
		}, view.WithName("load"))
}

// nodeOfLivePod is the Node of a Pod that has not ended.
func nodeOfLivePod(p *corev1.Pod) (string, bool) {
	return p.Spec.NodeName, p.Spec.NodeName != "" && alive(p)
}

func alive(p *corev1.Pod) bool {
	return p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed
}
