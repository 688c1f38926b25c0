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

// Added returns a copy with a label more, or the labels themselves without a name.
func Added(labels map[string]string, name, value string) map[string]string {
	if name == "" {
		return labels
	}
	mine := maps.Clone(labels)
	mine[name] = value
	return mine
}

// Named changes a copy if copied is set.
func Named(pod *corev1.Pod, name string, copied bool) *corev1.Pod {
	if copied {
		pod = pod.DeepCopy()
	}
	pod.Name = name
	return pod
}

// Moved writes unless dry is set.
func Moved(pod *corev1.Pod, node string, dry bool) {
	if !dry && node != "" {
		pod.Spec.NodeName = node
	}
}
