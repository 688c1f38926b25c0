package ctrlruntime

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/report"
)

// referenceInformer is the informer of a kind by reference, as controllers see it.
type referenceInformer[T Object] struct {
	*references[T]
	metadata bool // events have metadata alone
}

// informerOf returns the informer for objects in the form of an example.
func (r *references[T]) informerOf(example client.Object) (cache.Informer, error) {
	if _, unstructured := example.(runtime.Unstructured); unstructured {
		return nil, fmt.Errorf("informer of %s: the kind is cached by reference: watch it by its Go type, or as metadata", r.kind.Kind)
	}
	_, metadata := example.(*metav1.PartialObjectMetadata)
	return &referenceInformer[T]{r, metadata}, nil
}

// AddEventHandler implements cache.Informer.
func (i *referenceInformer[T]) AddEventHandler(handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(handler, toolscache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod implements cache.Informer.
func (i *referenceInformer[T]) AddEventHandlerWithResyncPeriod(handler toolscache.ResourceEventHandler, period time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(handler, toolscache.HandlerOptions{ResyncPeriod: &period})
}

var errConsistencyByReference = errors.New("EnableReadYourWritesConsistency and WithReferences exclude each other: use WithOwnWrites")

// AddEventHandlerWithOptions implements cache.Informer.
func (i *referenceInformer[T]) AddEventHandlerWithOptions(handler toolscache.ResourceEventHandler, options toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	if handler == nil {
		return nil, errors.New("add an event handler: handler is nil")
	}
	if refuseConsistency(handler) != nil {
		return nil, errConsistencyByReference
	}
	own := typed.Handler[T](&heldHandler[T]{adapters.Handler[T](handler)})
	if i.metadata {
		own = &heldHandler[T]{&metadataHandler[T]{i.kind, handler}}
	}
	registration, err := i.informer.Handle(own, typed.WithHandlerName(fmt.Sprintf("%T", handler)),
		typed.WithResync(ptr.Deref(options.ResyncPeriod, i.resync)), typed.WithResyncJitter(0.1))
	if err != nil {
		return nil, err
	}
	return &referenceRegistration{registration}, nil
}

// RemoveEventHandler implements cache.Informer. It does not wait for a call in progress.
func (i *referenceInformer[T]) RemoveEventHandler(handle toolscache.ResourceEventHandlerRegistration) error {
	registration, ok := handle.(*referenceRegistration)
	if !ok {
		return errors.New("the registration is of another informer")
	}
	registration.of.Remove()
	return nil
}

// AddIndexers implements cache.Informer. It returns an error unless there are none.
func (i *referenceInformer[T]) AddIndexers(indexers toolscache.Indexers) error {
	if len(indexers) == 0 {
		return nil
	}
	return errIndexed(i.kind)
}

// HasSynced implements cache.Informer.
func (i *referenceInformer[T]) HasSynced() bool { return toolscache.IsDone(i.HasSyncedChecker()) }

// HasSyncedChecker implements cache.Informer.
func (i *referenceInformer[T]) HasSyncedChecker() toolscache.DoneChecker {
	return adapters.DoneChecker(i.informer)
}

// IsStopped implements cache.Informer.
func (i *referenceInformer[T]) IsStopped() bool { return i.informer.Phase() == report.PhaseStopped }

// referenceRegistration is the registration of a handler.
type referenceRegistration struct{ of *typed.Registration }

// HasSynced implements cache.ResourceEventHandlerRegistration.
func (r *referenceRegistration) HasSynced() bool { return toolscache.IsDone(r.HasSyncedChecker()) }

// HasSyncedChecker implements cache.ResourceEventHandlerRegistration.
func (r *referenceRegistration) HasSyncedChecker() toolscache.DoneChecker {
	return adapters.DoneChecker(r.of)
}

// heldHandler is not called for objects that are not followed any more: they may exist.
type heldHandler[T Object] struct{ typed.Handler[T] }

// OnDelete implements typed.Handler.
func (h *heldHandler[T]) OnDelete(d typed.Deleted[T]) {
	if d.Reason != index.OutOfScope {
		h.Handler.OnDelete(d)
	}
}

// metadataHandler calls a handler with the metadata of objects.
type metadataHandler[T Object] struct {
	kind    schema.GroupVersionKind
	handler toolscache.ResourceEventHandler
}

// OnAdd implements typed.Handler.
func (h *metadataHandler[T]) OnAdd(obj T, initial bool) {
	h.handler.OnAdd(metadataOnly(h.kind, obj), initial)
}

// OnUpdate implements typed.Handler.
func (h *metadataHandler[T]) OnUpdate(old, updated T) {
	h.handler.OnUpdate(metadataOnly(h.kind, old), metadataOnly(h.kind, updated))
}

// OnDelete implements typed.Handler.
func (h *metadataHandler[T]) OnDelete(d typed.Deleted[T]) {
	last := metadataOnly(h.kind, d.Object)
	if d.Reason == index.Watched {
		h.handler.OnDelete(last)
		return
	}
	h.handler.OnDelete(toolscache.DeletedFinalStateUnknown{Key: d.Key.String(), Obj: last})
}

// metadataOnly returns the metadata of an object, which is the caller's.
func metadataOnly(kind schema.GroupVersionKind, obj metav1.Object) *metav1.PartialObjectMetadata {
	metadata := meta.AsPartialObjectMetadata(obj).DeepCopy()
	metadata.SetGroupVersionKind(kind)
	return metadata
}
