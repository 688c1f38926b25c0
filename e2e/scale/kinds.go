package main

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/e2e/workload"
)

// The kinds of objects, as they are called in messages.
const (
	pods           = "Pods"
	configMaps     = "ConfigMaps"
	secrets        = "Secrets"
	services       = "Services"
	endpointSlices = "EndpointSlices"
)

// otherKinds are those in addition to Pods.
var otherKinds = []string{configMaps, secrets, services, endpointSlices}

// object is what the informers hold.
type object interface {
	comparable
	metav1.Object
}

// indexKey returns the key that an index has an object under, if it has it.
type indexKey[T object] func(T) (string, bool)

// Each informer has two indexes in addition to that by namespace: by application, and by a
// property of the kind. They are the same on both sides.

func byLabel[T object](label string) indexKey[T] {
	return func(obj T) (string, bool) {
		value, ok := obj.GetLabels()[label]
		return value, ok
	}
}

func byApp[T object]() indexKey[T] { return byLabel[T](workload.AppLabel) }

func podByNode(pod *corev1.Pod) (string, bool) { return pod.Spec.NodeName, pod.Spec.NodeName != "" }

func secretByType(secret *corev1.Secret) (string, bool) { return string(secret.Type), true }

func sliceByService(slice *discoveryv1.EndpointSlice) (string, bool) {
	name, ok := slice.Labels[discoveryv1.LabelServiceName]
	return name, ok
}
