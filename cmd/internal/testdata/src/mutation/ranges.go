package mutation

import (
	"iter"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/view"
)

func rangesOfIndexes(byNode *index.Ordered[string, *corev1.Pod], before, after *index.Snapshot[*corev1.Pod]) {
	for key, pod := range byNode.Range(index.Range[string]{}) {
		key = "x"
		pod.Name = key // want `Name of an object of a cache, Ordered.Range`
		pod.DeepCopy().Name = "x"
	}
	for _, pod := range byNode.Backward(index.Range[string]{}) {
		pod.Name = "x" // want `Name of an object`
	}
	for event := range index.Diff(before, after) {
		event.New.Name = "x" // want `New.Name of an object`
		event.New = event.New.DeepCopy()
		event.New.Name = "x"
	}
}

func lookups(f *view.Fetcher, byNode *view.Lookup[string, *corev1.Pod], byLabels *view.LabelLookup[*corev1.Pod], bySelector *view.SelectorLookup[*corev1.Pod]) {
	for pod := range byNode.Fetch(f, "node") {
		pod.Name = "x" // want `Name of an object`
	}
	for pod := range byLabels.Select(f, "ns") {
		pod.Name = "x" // want `Name of an object`
	}
	for pod := range bySelector.Match(f, "ns") {
		pod.Name = "x" // want `Name of an object`
	}
}

type ranges struct{ pods *typed.Informer[*corev1.Pod] }

func (r *ranges) all() iter.Seq[*corev1.Pod] { return r.pods.All() }

func (r *ranges) both() (iter.Seq[*corev1.Pod], error) { return r.all(), nil }

func (r *ranges) write() {
	for pod := range r.all() {
		pod.Name = "x" // want `Name of an object of a cache, Informer.All`
		pod = pod.DeepCopy()
		pod.Name = "x"
	}
	if all, err := r.both(); err == nil {
		for pod := range all {
			pod.Name = "x" // want `Name of an object of a cache, Informer.All`
		}
	}
}
