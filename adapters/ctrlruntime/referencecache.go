package ctrlruntime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/reference"
)

const (
	// absentFor is how long a key is followed that is absent and not read.
	absentFor = time.Hour
	// requestedFor is how long a key is requested whose list or watch was refused.
	requestedFor = 10 * time.Minute
)

// referenceCache is the cache of a kind by reference.
type referenceCache interface {
	get(ctx context.Context, key client.ObjectKey, out client.Object, opts []client.GetOption) error
	list(ctx context.Context, list client.ObjectList, opts []client.ListOption) error
	informerOf(example client.Object) (cache.Informer, error)
	forget()
	start(ctx context.Context) (run func())
	on() typed.AnyInformer
}

// references is the cache of a kind by reference, whose objects are of type T.
type references[T Object] struct {
	*referenceForm
	source   *reference.Source[index.Key, T]
	informer *typed.Informer[T]
	started  atomic.Bool

	listed, refused, full, asked sync.Once // what the log has said

	mu        sync.Mutex
	requested map[index.Key]time.Time   // guarded by mu; until when keys are requested
	purged    time.Time                 // guarded by mu; when requested was last looked through
	absent    map[index.Key]*time.Timer // guarded by mu: end to follow keys; nil when the cache has ended
}

// byReference returns the cache of a kind that is cached by reference, nil if it is not.
func (c *managerCache) byReference(of runtime.Object) referenceCache {
	if len(c.byName) == 0 {
		return nil
	}
	kind, err := c.kindOf(of)
	if err != nil {
		return nil // the next reader says so
	}
	return c.byName[kind.kind]
}

func (r *references[T]) on() typed.AnyInformer { return r.informer }

// start lets reads wait, and returns what follows the keys that are read, until ctx ends.
func (r *references[T]) start(ctx context.Context) (run func()) {
	r.started.Store(true)
	return func() {
		defer r.source.Watch(r.note)()
		defer r.end()
		if err := r.informer.Run(ctx); err != nil {
			log.Error(err, "A cache by reference has ended", "kind", r.kind.String())
		}
	}
}

func (r *references[T]) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, timer := range r.absent {
		timer.Stop()
	}
	r.absent = nil
}

// forget drops the keys that no Get waits for.
func (r *references[T]) forget() {
	for obj := range r.informer.All() {
		r.source.Forget(index.KeyOf(obj))
	}
	status := r.source.Status()
	r.source.Forget(append(status.Pending, status.Absent...)...)
}

// get is Get of a cache.
func (r *references[T]) get(ctx context.Context, of client.ObjectKey, out client.Object, opts []client.GetOption) error {
	if !r.started.Load() {
		return &cache.ErrCacheNotStarted{}
	}
	if _, unstructured := out.(runtime.Unstructured); unstructured {
		r.asked.Do(func() {
			log.Info("Kind cached by reference: unstructured objects are requested each time", "kind", r.kind.String())
		})
		r.source.CountLiveRead()
		return r.live.Get(ctx, of, out, opts...)
	}
	if !r.namespaced {
		of.Namespace = ""
	}
	key := index.Key{Namespace: of.Namespace, Name: of.Name}
	if r.isRequested(key) {
		return r.ask(ctx, of, out, opts)
	}
	obj, exists, err := reference.Get(ctx, r.source, r.informer, key)
	if errors.Is(err, reference.ErrCallback) { // which cannot wait
		obj, exists = r.informer.Get(key)
	}
	switch state := r.source.State(key); {
	case err != nil && !exists, apierrors.IsForbidden(state.Err):
		if err == nil { // its watch is refused, after it was listed
			err = state.Err
		}
		return r.getLive(ctx, of, out, opts, err)
	case !exists:
		r.setAbsent(key)
		return apierrors.NewNotFound(schema.GroupResource{Group: r.kind.Group, Resource: r.kind.Kind}, of.Name)
	}
	return r.copyTo(out, obj)
}

// getLive requests an object that is not in the cache because of an error, if that is about
// rights or room. Otherwise it returns the error.
func (r *references[T]) getLive(ctx context.Context, of client.ObjectKey, out client.Object, opts []client.GetOption, because error) error {
	key := index.Key{Namespace: of.Namespace, Name: of.Name}
	switch {
	case errors.Is(because, reference.ErrCallback):
	case errors.Is(because, reference.ErrLimit):
		r.full.Do(func() {
			log.Info("Kind cached by reference: objects beyond the limit are requested each time, and have no events", "kind", r.kind.String(), "reason", because.Error())
		})
	case apierrors.IsForbidden(because):
		r.refused.Do(func() {
			log.Info("Kind cached by reference: objects that may not be watched are requested each time, and have no events", "kind", r.kind.String(), "reason", because.Error())
		})
		r.request(key)
	default:
		return fmt.Errorf("get %s: %w", r.kind.Kind, because)
	}
	return r.ask(ctx, of, out, opts)
}

// ask requests an object.
func (r *references[T]) ask(ctx context.Context, of client.ObjectKey, out client.Object, opts []client.GetOption) error {
	r.source.CountLiveRead()
	if err := r.live.Get(ctx, of, out, opts...); err != nil {
		return err
	}
	out.GetObjectKind().SetGroupVersionKind(r.kind)
	return nil
}

// isRequested reports whether a key is requested for lack of rights to follow it.
func (r *references[T]) isRequested(key index.Key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	until, ok := r.requested[key]
	return ok && time.Now().Before(until)
}

// request makes reads of a key requests for some time, unless its object is in the cache, where its watch
// is tried again.
func (r *references[T]) request(key index.Key) {
	if _, exists := r.informer.Get(key); exists {
		return
	}
	r.source.Forget(key)
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if now.Sub(r.purged) > requestedFor {
		r.purged = now
		maps.DeleteFunc(r.requested, func(_ index.Key, until time.Time) bool { return now.After(until) })
	}
	r.requested[key] = now.Add(requestedFor)
}

// note notes the state of a key.
func (r *references[T]) note(key index.Key, state reference.State) {
	if state.Phase == reference.Absent {
		r.setAbsent(key)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if timer := r.absent[key]; timer != nil {
		timer.Stop()
		delete(r.absent, key)
	}
}

// setAbsent ends to follow a key when it is still absent after some time.
func (r *references[T]) setAbsent(key index.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch timer := r.absent[key]; {
	case r.absent == nil:
	case timer != nil:
		timer.Reset(absentFor)
	default:
		r.absent[key] = time.AfterFunc(absentFor, func() {
			r.mu.Lock()
			delete(r.absent, key)
			r.mu.Unlock()
			if r.source.State(key).Phase == reference.Absent {
				r.source.Forget(key)
			}
		})
	}
}

// copyTo copies an object, or its metadata, to a caller's.
func (r *references[T]) copyTo(out client.Object, obj T) error {
	if metadata, ok := out.(*metav1.PartialObjectMetadata); ok {
		*metadata = *metadataOnly(r.kind, obj)
		return nil
	}
	to := reflect.ValueOf(out)
	if to.Type() != reflect.TypeFor[T]() {
		return fmt.Errorf("get %s: the cache has a %T, and a %T was asked for", r.kind.Kind, obj, out)
	}
	to.Elem().Set(reflect.ValueOf(obj.DeepCopyObject()).Elem())
	out.GetObjectKind().SetGroupVersionKind(r.kind)
	return nil
}

// list is List of a cache, by a request.
func (r *references[T]) list(ctx context.Context, list client.ObjectList, opts []client.ListOption) error {
	r.listed.Do(func() {
		log.Info("Kind cached by reference: each List is a request", "kind", r.kind.String())
	})
	err := r.live.List(ctx, list, opts...)
	var o client.ListOptions
	if o.ApplyOptions(opts); apierrors.IsBadRequest(err) && o.FieldSelector != nil && !o.FieldSelector.Empty() {
		return fmt.Errorf("list %s by %q: the kind is cached by reference, so the server is asked, which does not select by indexes of the cache: %w", r.kind.Kind, o.FieldSelector, err)
	}
	return err
}

// errIndexed returns the error of IndexField and AddIndexers.
func errIndexed(kind schema.GroupVersionKind) error {
	return fmt.Errorf("index %s: the kind is cached by reference: lists are requests, which do not use indexes, and an index would have only the objects that were read; leave WithReferences of the kind out, or read by name", kind.Kind)
}
