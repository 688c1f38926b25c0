package apitest

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Kinds whose dependents are kept unless a delete says otherwise, for reasons of
// history, and those that have no dependents.
var (
	orphansByDefault = map[schema.GroupVersionKind]bool{
		{Version: "v1", Kind: "ReplicationController"}:        true,
		{Group: "batch", Version: "v1", Kind: "Job"}:          true,
		{Group: "batch", Version: "v1beta1", Kind: "CronJob"}: true,
	}
	withoutDependents = map[schema.GroupKind]bool{
		{Kind: "Event"}:                         true,
		{Group: "events.k8s.io", Kind: "Event"}: true,
	}
)

// propagate gives an object the finalizer that says what becomes of its dependents,
// for a garbage collector to act on, and takes away the one that says otherwise.
func (r removal) propagate(m metav1.Object) {
	wanted := slices.DeleteFunc(slices.Clone(m.GetFinalizers()), isPropagation)
	switch r.policy(m.GetFinalizers()) {
	case metav1.DeletePropagationOrphan:
		wanted = append(wanted, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		wanted = append(wanted, metav1.FinalizerDeleteDependents)
	}
	if !sets.New(wanted...).Equal(sets.New(m.GetFinalizers()...)) {
		m.SetFinalizers(wanted)
	}
}

func isPropagation(finalizer string) bool {
	return finalizer == metav1.FinalizerOrphanDependents || finalizer == metav1.FinalizerDeleteDependents
}

// policy returns what becomes of the dependents: what the delete says, or else the
// finalizers of the object, or else the kind.
func (r removal) policy(finalizers []string) metav1.DeletionPropagation {
	kind := r.collection.kind
	//lint:ignore SA1019 clients may still send it
	orphan := r.options.OrphanDependents
	switch {
	case withoutDependents[kind.GroupKind()]:
		return metav1.DeletePropagationBackground
	case orphan != nil && *orphan:
		return metav1.DeletePropagationOrphan
	case orphan != nil:
		return metav1.DeletePropagationBackground
	case r.options.PropagationPolicy != nil:
		return *r.options.PropagationPolicy
	}
	named := slices.IndexFunc(finalizers, isPropagation)
	switch {
	case named >= 0 && finalizers[named] == metav1.FinalizerOrphanDependents:
		return metav1.DeletePropagationOrphan
	case named >= 0:
		return metav1.DeletePropagationForeground
	case orphansByDefault[kind]:
		return metav1.DeletePropagationOrphan
	default:
		return metav1.DeletePropagationBackground
	}
}
