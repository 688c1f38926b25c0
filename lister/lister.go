package lister

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/index"
)

// Lister reads objects from a store by name, namespace and label selector.
//
// Its methods have the names, results and errors of the listers that
// lister-gen makes, so call sites move over unchanged. The objects are shared
// and must not be modified; the slices are the caller's. It is safe for
// concurrent use.
//
// If the store was released, Get and List return an error that wraps index.ErrReleased
// and names the resource, never one of NotFound. All panics with such an error.
//
// For requirements of a selector that an index made by [index.Labels] can answer, List
// and All use that index, and otherwise look at all objects of the namespace, or of the
// store.
type Lister[T index.Labeled] struct{ reads[T] }

// New returns a lister that reads from a store, such as an informer.
//
// Errors name the resource as generated listers do, by the kind in lower case and its API
// group: deployment.apps "web" not found. Informers know both if their sources do, as those of
// package kube do. Other stores can have a method GroupResource. Without it, errors contain
// T's name and no group, unless ForResource sets them.
func New[T index.Labeled](from index.Reader[T]) *Lister[T] {
	return ForResource(from, schema.GroupResource{})
}

// ForResource returns a lister whose errors name the given resource, whatever the store
// calls it; lister-gen uses the kind in lower case, as in appsv1.Resource("deployment").
func ForResource[T index.Labeled](from index.Reader[T], resource schema.GroupResource) *Lister[T] {
	return &Lister[T]{reads[T]{source: &source[T]{from, resource}}}
}

// Namespace returns a lister for one namespace; "" stands for all of them, and
// for cluster-scoped objects when an object is read by name.
func (l *Lister[T]) Namespace(namespace string) NamespaceLister[T] {
	s := l.reads
	s.namespace = namespace
	return NamespaceLister[T]{s}
}

// NamespaceLister is a Lister for one namespace.
type NamespaceLister[T index.Labeled] struct{ reads[T] }

// reads is what both listers have. It has 24 bytes: the compiler keeps no struct in
// registers that has more than 32 (CanSSA in cmd/compile).
type reads[T index.Labeled] struct {
	*source[T]
	namespace string // "": all
}

// source is what a lister reads from.
type source[T index.Labeled] struct {
	from     index.Reader[T]
	resource schema.GroupResource // for errors; zero: what the store says
}

// List returns the objects that selector matches, in no particular order, nil
// if there are none. A nil selector matches everything. The error is nil, or wraps
// index.ErrReleased, or says that labels are left out of the objects.
func (s reads[T]) List(selector labels.Selector) (_ []T, err error) {
	defer s.recoverReleased("list", &err)
	if err := s.check(selector); err != nil {
		return nil, err
	}
	if selector == nil || selector.Empty() {
		if s.namespace == "" {
			return s.from.List(), nil
		}
		return s.from.ListNamespace(s.namespace), nil
	}
	var found []T
	for obj := range s.All(selector) {
		found = append(found, obj)
	}
	return found, nil
}

// All ranges over the objects that selector matches, in no particular order,
// without copying them and without holding a lock while the loop body runs. A
// nil selector matches everything. It panics if the store was released, or leaves labels out of
// the objects: List returns an error then.
func (s reads[T]) All(selector labels.Selector) iter.Seq[T] {
	if selector == nil || selector.Empty() {
		if s.namespace == "" {
			return s.from.All()
		}
		return s.from.InNamespace(s.namespace)
	}
	if err := s.check(selector); err != nil {
		panic(err)
	}
	return func(yield func(T) bool) {
		matcher := newMatcher(selector)
		var b block[T]
		for obj := range s.from.Candidates(s.namespace, selector) {
			if b.add(obj) && !b.flush(&matcher, yield) {
				return
			}
		}
		b.flush(&matcher, yield)
	}
}

// Get returns the object with the given name. Its error satisfies
// apierrors.IsNotFound if there is none, or wraps index.ErrReleased.
func (s reads[T]) Get(name string) (_ T, err error) {
	defer s.recoverReleased("get", &err)
	obj, ok := s.from.Get(index.Key{Namespace: s.namespace, Name: name})
	if !ok {
		return obj, apierrors.NewNotFound(s.called(), name)
	}
	return obj, nil
}

// check returns an error if a selector would match nothing, since an informer's objects are
// known to have no labels.
func (s reads[T]) check(selector labels.Selector) error {
	if selector == nil || selector.Empty() {
		return nil
	}
	if from, ok := s.from.(interface{ Omits(field string) bool }); ok && from.Omits("metadata.labels") {
		return fmt.Errorf("list %s: selector %q: the informer's source leaves metadata.labels out of the objects; name it in kube.WithFields", s.called(), selector)
	}
	return nil
}

// called returns what errors call the objects.
func (s reads[T]) called() schema.GroupResource {
	if !s.resource.Empty() {
		return s.resource
	}
	if store, ok := s.from.(interface{ GroupResource() schema.GroupResource }); ok {
		if resource := store.GroupResource(); !resource.Empty() {
			return resource
		}
	}
	t := reflect.TypeFor[T]()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return schema.GroupResource{Resource: strings.ToLower(t.Name())}
}

// recoverReleased is deferred by reads that return an error. A read of a released store panics
// with an error, which becomes theirs. Err of the store would return it too, but only as of a
// moment before the read.
func (s reads[T]) recoverReleased(verb string, err *error) {
	p := recover()
	if p == nil {
		return
	}
	released, ok := p.(error)
	if !ok || !errors.Is(released, index.ErrReleased) {
		panic(p)
	}
	*err = fmt.Errorf("%s %s: %w", verb, s.called(), released)
}
