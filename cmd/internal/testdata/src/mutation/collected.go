package mutation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	listers "k8s.io/client-go/listers/core/v1"

	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/view"
)

// collected: loops over sequences leave objects in variables.
func collected(pods *typed.Informer[*corev1.Pod]) {
	var all, copies []*corev1.Pod
	var last, other *corev1.Pod
	for pod := range pods.All() {
		all = append(all, pod)
		copies = append(copies, pod.DeepCopy())
		last = pod
		other = pod
		other = other.DeepCopy()
	}
	all[0].Name = "x" // want `Name of an object`
	copies[0].Name = "x"
	last.Name = "x" // want `Name of an object`
	other.Name = "x"
	inner := func() *corev1.Pod {
		for pod := range pods.All() {
			return pod
		}
		return nil
	}
	inner().Name = "x" // want `Name of an object`
}

// retried: a closure leaves its last object in a variable, if there was no error.
func retried(lister listers.PodLister, update func(*corev1.Pod) (*corev1.Pod, error)) {
	var pod, other *corev1.Pod
	untilDone(func() (err error) {
		pod, err = lister.Pods("").Get("")
		if err != nil {
			return err
		}
		pod, err = update(pod.DeepCopy())
		return err
	})
	pod.Name = "x"
	untilDone(func() (err error) {
		other, err = lister.Pods("").Get("")
		return err
	})
	other.Name = "x" // want `Name of an object`
}

func untilDone(f func() error) {
	for f() != nil {
	}
}

// sequences: functions of package slices collect objects.
func sequences(pods *typed.Informer[*corev1.Pod]) {
	all := slices.Collect(pods.All())
	slices.Reverse(all)
	all[0].Name = "x" // want `Name of an object`
	all = slices.SortedFunc(pods.All(), func(a, b *corev1.Pod) int { return 0 })
	all[0].Name = "x" // want `Name of an object`
	all = slices.AppendSeq([]*corev1.Pod{}, pods.All())
	all[0].Name = "x" // want `Name of an object`
	all = slices.Collect(slices.Values([]*corev1.Pod{{}}))
	all[0].Name = "x"
}

// functions: predicates and functions of views are called with objects.
func functions(h typed.Handler[*corev1.Pod], pods *view.View[*corev1.Pod]) {
	control.Filter(h, func(pod *corev1.Pod) bool {
		pod.Name = "x" // want `Name of an object`
		return true
	})
	view.Map(pods, func(pod *corev1.Pod) *corev1.Pod {
		pod.Name = "x" // want `Name of an object`
		return pod
	})
}
