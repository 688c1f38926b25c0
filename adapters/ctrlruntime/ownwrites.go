package ctrlruntime

import (
	"errors"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters/internal/listwatch"
	"github.com/kubetyped/informer/typed/kube"
)

// WithOwnWrites has Get and List return what the program has written, before the watch brings
// it and without waiting for that, see kube.Writes:
//
//	writes := kube.NewWrites()
//	options.NewCache = ctrlruntime.NewCache(ctrlruntime.WithOwnWrites(writes))
//	manager, err := ctrl.NewManager(writes.Config(config), options)
//
// An informer whose first list was not made with the configuration of Writes.Config ends with
// an error in the log, and does not sync. Use it instead of
// EnableReadYourWritesConsistency, whose handlers the cache's informers refuse: that client
// takes the highest version of events for progress, which it is not here. Kinds whose Go type
// is registered with several are left to the watch.
func WithOwnWrites(writes *kube.Writes) CacheOption {
	return func(s *settings) error {
		if writes == nil {
			return errors.New("WithOwnWrites: the Writes is nil")
		}
		s.writes = writes
		return nil
	}
}

// writing returns a function that makes a ListerWatcher take answers to own writes, if there are
// any.
func (s *settings) writing(example runtime.Object, kind schema.GroupVersionKind, fields []kube.SourceOption) func(toolscache.ListerWatcher) toolscache.ListerWatcher {
	unchanged := func(lw toolscache.ListerWatcher) toolscache.ListerWatcher { return lw }
	if s.writes == nil {
		return unchanged
	}
	decode, err := s.writes.AnswerDecoder(example, kind, fields...)
	if err != nil {
		log.Info("Own writes are left to the watch", "kind", kind.String(), "type", reflect.TypeOf(example).String(), "reason", err.Error())
		return unchanged
	}
	_, partial := example.(*metav1.PartialObjectMetadata)
	return func(lw toolscache.ListerWatcher) toolscache.ListerWatcher {
		return &listwatch.Writing{ListerWatcher: lw, Answers: s.writes.Answers(), Decode: decode, Partial: partial, Refuse: refuseConsistency}
	}
}

// refusing returns a function that returns an error for a handler that informers of a kind refuse.
func (s *settings) refusing(kind schema.GroupVersionKind) func(handler any) error {
	switch {
	case s.writes != nil:
		return refuseConsistency
	case s.mayFollow(kind):
		return refuseInNamespaces
	}
	return func(any) error { return nil }
}

// consistencyHandlers is where controller-runtime has the handlers of its blocking client.
const consistencyHandlers = "sigs.k8s.io/controller-runtime/pkg/client/internal/consistencyhandler"

var errConsistency = errors.New("EnableReadYourWritesConsistency and WithOwnWrites exclude each other: use one of the two")

// refuseConsistency returns an error for a handler of the blocking client.
func refuseConsistency(handler any) error {
	of := reflect.TypeOf(handler)
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.PkgPath() == consistencyHandlers {
		return errConsistency
	}
	return nil
}
