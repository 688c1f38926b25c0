package main

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/typed/view"
)

// load is what a Node has to do, and is named as that is.
type load struct {
	view.Named
	Pods, Running int
}

// loads returns the load of each Node. When a Pod changes, its state is taken out of the
// sum of its Node, and the new one put in; no other Pod is looked at.
func loads(pods *view.View[*corev1.Pod]) *view.View[load] {
	node := view.One(func(p *corev1.Pod) (string, bool) { return p.Spec.NodeName, p.Spec.NodeName != "" })
	running := view.Fold[*corev1.Pod, int]{
		Add:    func(sum *int, p *corev1.Pod) { *sum += isRunning(p) },
		Remove: func(sum *int, p *corev1.Pod) { *sum -= isRunning(p) },
	}
	return view.Reduce(pods, node, running, func(node string, running *int, pods int) (load, bool) {
		return load{view.Named{Name: node}, pods, *running}, true
	})
}

func isRunning(p *corev1.Pod) int {
	if p.Status.Phase == corev1.PodRunning {
		return 1
	}
	return 0
}
