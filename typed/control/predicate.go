package control

import (
	"errors"
	"maps"
	"slices"

	"github.com/kubetyped/informer/index"
)

// Predicate reports whether an update matters, to a handler in FilterUpdates. It is
// asked about updates alone: there are no predicates for additions and
// deletions, so that Not is what it says.
//
// It must not modify the objects, and is called by the handler's goroutine.
type Predicate[T index.Object] func(old, updated T) bool

// GenerationChanged is a Predicate: metadata.generation is another one, as it is
// when the spec has changed, the deletion has been asked for, or whatever else
// the kind counts. Of kinds that do not count, such as ConfigMaps, the
// generation is 0; then every update matters that is not a resync.
func GenerationChanged[T interface {
	index.Object
	GetGeneration() int64
}](old, updated T) bool {
	generation := updated.GetGeneration()
	return generation != old.GetGeneration() || generation == 0 && !index.Same(old, updated)
}

// LabelsChanged is a Predicate: the labels are not the same as before. It finds no change if the
// informer's source omits metadata.labels, see kube.WithFields and kube.WithoutFields.
func LabelsChanged[T index.Labeled](old, updated T) bool {
	return !maps.Equal(old.GetLabels(), updated.GetLabels())
}

// AnnotationsChanged is a Predicate: the annotations are not the same as before. It finds no
// change if the informer's source omits metadata.annotations, see kube.WithFields and
// kube.WithoutFields.
func AnnotationsChanged[T interface {
	index.Object
	GetAnnotations() map[string]string
}](old, updated T) bool {
	return !maps.Equal(old.GetAnnotations(), updated.GetAnnotations())
}

// ResourceVersionChanged is a Predicate: anything has changed. It leaves out
// resyncs, and the updates after a relist of objects that are as they were.
func ResourceVersionChanged[T interface {
	index.Object
	GetResourceVersion() string
}](old, updated T) bool {
	return old.GetResourceVersion() != updated.GetResourceVersion()
}

// Resynced is a Predicate: nothing has changed, the update is one of a resync.
// So Or(GenerationChanged, Resynced) lets resyncs through.
func Resynced[T index.Object](old, updated T) bool { return index.Same(old, updated) }

// And returns the predicate that all of predicates hold; with none it does.
func And[T index.Object](predicates ...Predicate[T]) Predicate[T] {
	if hasNil(predicates) {
		return nil
	}
	return func(old, updated T) bool {
		for _, p := range predicates {
			if !p(old, updated) {
				return false
			}
		}
		return true
	}
}

// Or returns the predicate that any of predicates holds; with none it does not.
func Or[T index.Object](predicates ...Predicate[T]) Predicate[T] {
	if hasNil(predicates) {
		return nil
	}
	return func(old, updated T) bool {
		for _, p := range predicates {
			if p(old, updated) {
				return true
			}
		}
		return false
	}
}

// Not returns the predicate that p does not hold.
func Not[T index.Object](p Predicate[T]) Predicate[T] {
	if p == nil {
		return nil
	}
	return func(old, updated T) bool { return !p(old, updated) }
}

var errNilPredicate = errors.New("predicate is nil")

func hasNil[T index.Object](predicates []Predicate[T]) bool {
	return slices.ContainsFunc(predicates, func(p Predicate[T]) bool { return p == nil })
}
