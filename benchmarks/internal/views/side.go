package views

import (
	"iter"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// Side is one of those that are compared: ways to compute three collections.
type Side struct {
	Impl       string
	Endpoints  Feed[*corev1.Service, *corev1.Pod, *Endpoints]
	Placements Feed[*corev1.Pod, *corev1.Node, *Placement]
	Applied    Feed[*corev1.Pod, *networkingv1.NetworkPolicy, *Applied]
}

// Sides are those of this module.
var Sides = []Side{Typed(), ByHand(), TypedSet()}

// Feed starts the inputs of a collection, and returns when they have their objects.
type Feed[L, R, Out any] func(left []L, right []R) Running[L, R, Out]

// Running is inputs, and the results that are computed from them.
type Running[L, R, Out any] interface {
	// Compute begins to compute. It calls notify for each result that has come or
	// changed, one at a time; old is the zero Out for those that have come.
	Compute(notify func(old, now Out))
	// PutLeft and PutRight change an object of an input.
	PutLeft(obj L)
	PutRight(obj R)
	// All ranges over what was computed.
	All() iter.Seq[Out]
	// Stop ends it, and waits for it.
	Stop()
}
