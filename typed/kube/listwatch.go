package kube

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
)

// target is what is listed and watched.
type target struct {
	of        reflect.Type // of objects, a pointer
	resource  resource
	namespace string // "": all
}

// policy is what becomes of the objects that a list or a watch brings.
type policy[T index.Object] struct {
	expected   schema.GroupVersionKind // of every object; zero: not known
	stampEvent func(T)                 // gives the object of an event its kind
	stampItem  func(T)                 // gives one of a list its kind; nil: it keeps what it has
	// failing makes an object that cannot be used fail the list or watch, and gives bookmarks
	// the type of objects, and a kind. Otherwise such an object is passed on, to be reported
	// and left out.
	failing      bool
	bookmarkKind schema.GroupVersionKind
}

// rejecting returns the policy of sources, which leave out what cannot be used, for objects of
// the expected kind. They are given another one, if it is not empty.
func rejecting[T index.Object](expected, given schema.GroupVersionKind) policy[T] {
	p := policy[T]{stampEvent: stampOfEvents[T](given), stampItem: stamp[T](given)}
	if !isOfAnyKind(kindType(reflect.TypeFor[T]())) {
		p.expected = expected
	}
	return p
}

// failing returns the policy of a ListerWatcher for a Reflector that other code runs, which
// expects what client-go does. Objects are of the type of, and T or an interface that it has.
func failing[T index.Object](of reflect.Type, kind schema.GroupVersionKind, stampEvent, stampItem func(T)) policy[T] {
	p := policy[T]{stampEvent: stampEvent, stampItem: stampItem, failing: true}
	if isOfAnyKind(of) {
		p.bookmarkKind = kind
	} else {
		p.expected = kind
	}
	return p
}

// newRESTListerWatcher returns a ListerWatcher of a target, which makes its requests by client and
// waits between watches that end too early. With a nil client, it decodes the responses to requests
// of others alone.
func newRESTListerWatcher[T index.Object](client *restClient[T], of target, p policy[T], reports reporter, between backoff) *restListerWatcher[T] {
	lw := &restListerWatcher[T]{target: of, policy: p, client: client, registry: scheme.Scheme, reports: reports}
	lw.breaks.between = between
	return lw
}

// forReflector returns a ListerWatcher for a Reflector that other code runs.
func forReflector[T index.Object](client *restClient[T], of target, p policy[T]) *restListerWatcher[T] {
	return newRESTListerWatcher(client, of, p, unreported{}, requestConfig{}.refused())
}

// unreported is a reporter for a Reflector, which finds out for itself.
type unreported struct{}

func (unreported) Progress(int, int) {}

func (unreported) Report(error) {}

// listerWatcher returns lw with methods without a context, which a Reflector does not call.
func listerWatcher(lw cache.ListerWatcherWithContext) cache.ListerWatcher {
	funcs := &cache.ListWatch{ListWithContextFunc: lw.ListWithContext, WatchFuncWithContext: lw.WatchWithContext}
	return cache.ToListWatcherWithWatchListSemantics(funcs, lw)
}
