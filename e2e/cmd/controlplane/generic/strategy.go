//go:build !race

package generic

import (
	"cmp"
	"context"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/utils/ptr"
)

// strategy is what the registry asks about a write of an object. It finds spec
// and status by reflection: every kind names them so, and no interface does.
type strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	resource
}

var (
	_ rest.RESTCreateStrategy = strategy{}
	_ rest.RESTUpdateStrategy = strategy{}

	_ rest.RESTGracefulDeleteStrategy = strategy{}
)

func (s strategy) NamespaceScoped() bool                       { return s.namespaced }
func (strategy) AllowCreateOnUpdate(context.Context) bool      { return false }
func (strategy) AllowUnconditionalUpdate(context.Context) bool { return true }
func (strategy) Canonicalize(runtime.Object)                   {}

// PrepareForCreate drops the status that the client sent and begins to count
// generations.
func (s strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	if s.status {
		part(obj, "Status").SetZero()
	}
	switch obj := obj.(type) {
	case *corev1.Pod:
		obj.Status.Phase = corev1.PodPending
	case *corev1.Namespace:
		obj.Status.Phase = corev1.NamespaceActive
	}
	if s.generation {
		obj.(metav1.Object).SetGeneration(1)
	}
}

// PrepareForUpdate keeps the status, which has a subresource for itself, and
// counts a change of the spec.
func (s strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	if s.status {
		part(obj, "Status").Set(part(old, "Status"))
	}
	if s.generation && !equality.Semantic.DeepEqual(part(obj, "Spec").Interface(), part(old, "Spec").Interface()) {
		obj.(metav1.Object).SetGeneration(old.(metav1.Object).GetGeneration() + 1)
	}
}

// Validate checks the name. The registry checks the rest of the metadata.
func (s strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	if s.validName == nil {
		return nil
	}
	return validation.ValidateObjectMetaAccessor(obj.(metav1.Object), s.namespaced, s.validName, field.NewPath("metadata"))
}

func (strategy) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}

func (strategy) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }

func (strategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// CheckGracefulDelete makes the registry mark a Pod before it deletes it. That
// is one step after the other when no node has to stop it. Otherwise the Pod is
// left to its node, which deletes it with a period of zero.
func (strategy) CheckGracefulDelete(_ context.Context, obj runtime.Object, options *metav1.DeleteOptions) bool {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return false
	}
	switch {
	case pod.Spec.NodeName == "", pod.Status.Phase == corev1.PodSucceeded, pod.Status.Phase == corev1.PodFailed:
		options.GracePeriodSeconds = ptr.To[int64](0)
	case options.GracePeriodSeconds == nil:
		options.GracePeriodSeconds = cmp.Or(pod.Spec.TerminationGracePeriodSeconds,
			ptr.To[int64](corev1.DefaultTerminationGracePeriodSeconds))
	}
	return true
}

// part returns the field of obj that has this name. There must be one.
func part(obj runtime.Object, name string) reflect.Value {
	return reflect.ValueOf(obj).Elem().FieldByName(name)
}
