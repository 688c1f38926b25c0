// Package helpers contains functions whose summaries other packages need.
package helpers

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func SetLabel(pod *corev1.Pod, name, value string) {
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[name] = value
}

func Filter(pods []*corev1.Pod) (kept []*corev1.Pod) {
	for _, pod := range pods {
		if pod.Name != "" {
			kept = append(kept, pod)
		}
	}
	return kept
}

func Shallow(pod *corev1.Pod) *corev1.Pod {
	mine := *pod
	return &mine
}

func EnsureLabels(pod *corev1.Pod) { pod.Labels = maps.Clone(pod.Labels) }

func Each(pods []*corev1.Pod, f func(*corev1.Pod)) {
	for _, pod := range pods {
		f(pod)
	}
}

// Set is generic.
func Set[T interface {
	metav1.Object
	comparable
}](obj T, name string) {
	if pod, ok := any(obj).(*corev1.Pod); ok {
		pod.Name = name
	}
}

func First[T any](all []T) (first T) {
	for _, one := range all {
		return one
	}
	return first
}
