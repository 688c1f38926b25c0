package kube

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
)

// StripManagedFields is a transform that takes the managed fields out of
// objects. They are for server-side apply, and can be half of an object:
//
//	typed.WithTransform(kube.StripManagedFields[*corev1.Pod])
//
// If the source decodes objects, [WithoutFields] does the same at a lower cost: omitted fields
// are not decoded, and deduplication stays on, which a transform turns off. StripManagedFields
// returns no error.
func StripManagedFields[T interface {
	index.Object
	SetManagedFields([]metav1.ManagedFieldsEntry)
}](obj T) (T, error) {
	obj.SetManagedFields(nil)
	return obj, nil
}

// StripAnnotations returns a transform that takes the annotations of the given
// keys out of objects, such as the one with which kubectl apply doubles them:
//
//	typed.WithTransform(kube.StripAnnotations[*corev1.Pod](corev1.LastAppliedConfigAnnotation))
//
// It returns no error.
func StripAnnotations[T interface {
	index.Object
	GetAnnotations() map[string]string
	SetAnnotations(map[string]string)
}](keys ...string) func(T) (T, error) {
	return func(obj T) (T, error) {
		annotations := obj.GetAnnotations()
		before := len(annotations)
		for _, key := range keys {
			delete(annotations, key)
		}
		switch len(annotations) {
		case before:
		case 0:
			obj.SetAnnotations(nil)
		default:
			obj.SetAnnotations(annotations)
		}
		return obj, nil
	}
}
