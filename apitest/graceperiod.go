package apitest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// gracePeriod returns how many seconds the node of a Pod has to stop it. asked is
// what the delete asks for, nil for what the Pod says. It is none if there is nothing
// to stop: the Pod is on no node, or has ended.
func gracePeriod(obj runtime.Object, asked *int64) (int64, error) {
	pod, err := podOf(obj)
	if err != nil {
		return 0, err
	}
	if pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return 0, nil
	}
	if asked == nil {
		asked = pod.Spec.TerminationGracePeriodSeconds
	}
	if period := ptr.Deref(asked, corev1.DefaultTerminationGracePeriodSeconds); period >= 0 {
		return period, nil
	}
	return 1, nil
}

// podOf returns a Pod, which may be of any type, as that of Kubernetes. It is
// shared with obj.
func podOf(obj runtime.Object) (*corev1.Pod, error) {
	if pod, ok := obj.(*corev1.Pod); ok {
		return pod, nil
	}
	pod := &corev1.Pod{}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(content, pod)
	}
	if err != nil {
		return nil, fmt.Errorf("read %T as a Pod: %w", obj, err)
	}
	return pod, nil
}
