package kube

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/consistencydetector"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// reflectorStore is what a Reflector writes to. It turns what the Reflector
// hands over into T, the one place where that is done, and passes it on to a
// sink. Its methods are called by the Reflector's goroutine.
type reflectorStore[T index.Object] struct {
	sink     source.Sink[T]
	streamed func() // called for each object of a streamed list as it comes
	listed   func() // called when a list is complete

	// ordered is set while objects come in the order of their versions. They do not if a watch
	// began without a version: then it opens with additions of all existing objects, in any
	// order, as the Reflector's own comments say.
	ordered bool
}

func _[T index.Object]() {
	var _ cache.ReflectorStore = (*reflectorStore[T])(nil)
	var _ cache.ReflectorBookmarkStore = (*reflectorStore[T])(nil)
	var _ cache.TransformingStore = (*reflectorStore[T])(nil)
}

// Add implements cache.ReflectorStore.
func (s *reflectorStore[T]) Add(untyped any) error {
	if obj, version, ok := s.convert(untyped, false); ok {
		if !s.ordered {
			version = ""
		}
		s.sink.Change(index.Change[T]{Object: obj}, version)
	} else {
		s.moveOn(untyped)
	}
	return nil
}

// Update implements cache.ReflectorStore.
func (s *reflectorStore[T]) Update(untyped any) error {
	s.ordered = true
	return s.Add(untyped)
}

// Delete implements cache.ReflectorStore.
func (s *reflectorStore[T]) Delete(untyped any) error {
	s.ordered = true
	if obj, version, ok := s.convert(untyped, false); ok {
		s.sink.Change(index.Change[T]{Delete: true, Object: obj}, version)
	} else if gone, ok := untyped.(*wrapper[T]); ok && gone.isInvalid() {
		key := index.Key{Namespace: gone.meta.Namespace, Name: gone.meta.Name}
		s.sink.Change(index.Change[T]{Delete: true, Key: &key}, gone.meta.ResourceVersion)
	}
	return nil
}

// moveOn reports to the sink that the watch has reached the version of an object that could not
// be decoded.
func (s *reflectorStore[T]) moveOn(untyped any) {
	if left, ok := untyped.(*wrapper[T]); ok && left.isInvalid() && s.ordered && left.meta.ResourceVersion != "" {
		s.sink.Step(nil, left.meta.ResourceVersion, nil)
	}
}

// Replace implements cache.ReflectorStore.
func (s *reflectorStore[T]) Replace(list []any, version string) error {
	defer s.listed()
	s.ordered = version != "" && version != "0"
	all := make([]source.Staged, 0, len(list))
	for _, untyped := range list {
		done, streamed := untyped.(source.Staged)
		if !streamed {
			done = s.stage(untyped)
		}
		all = append(all, done)
	}
	s.sink.Replace(source.List{Items: all}, version)
	return nil
}

// Bookmark implements cache.ReflectorBookmarkStore.
func (s *reflectorStore[T]) Bookmark(version string) error {
	s.ordered = true
	s.sink.Step(nil, version, nil)
	return nil
}

// Resync implements cache.ReflectorStore. The Reflector is set up not to call
// it: every handler keeps its own period.
func (s *reflectorStore[T]) Resync() error { return nil }

// Transformer implements cache.TransformingStore. The Reflector calls the function for each
// object of a streamed list, and for nothing else. It keeps the result instead of the object
// until the list is complete, so the sink takes the objects in as they come.
func (s *reflectorStore[T]) Transformer() cache.TransformFunc {
	checked := consistencydetector.IsDataConsistencyDetectionForWatchListEnabled()
	return func(untyped any) (any, error) {
		s.streamed()
		if checked { // the Reflector compares the objects with those of a list
			return untyped, nil
		}
		return s.stage(untyped), nil
	}
}

// stage hands an object of a list that is streamed to the sink.
func (s *reflectorStore[T]) stage(untyped any) source.Staged {
	if obj, version, ok := s.convert(untyped, true); ok {
		return s.sink.Stage(obj, version)
	}
	return source.Reject(keyOf(untyped))
}

// keyOf returns the key of what may be an object, the zero Key if it is none.
func keyOf(untyped any) (key index.Key) {
	if accessor, err := meta.Accessor(untyped); err == nil {
		key = index.Key{Namespace: accessor.GetNamespace(), Name: accessor.GetName()}
	}
	return key
}

// convert returns the object as a T, and its resource version. It reports an object that is not
// a T, and listed says whether that is one of a list.
func (s *reflectorStore[T]) convert(untyped any, listed bool) (T, string, bool) {
	if wrapped, ok := untyped.(*wrapper[T]); ok && wrapped.err == nil {
		return wrapped.object, wrapped.meta.ResourceVersion, true
	}
	obj, ok := untyped.(T)
	if !ok {
		rejected := &source.RejectedError{Listed: listed, Err: fmt.Errorf("type is %T, want %v", untyped, reflect.TypeFor[T]())}
		if wrapped, ok := untyped.(*wrapper[T]); ok {
			rejected.Err = wrapped.err
		}
		if accessor, err := meta.Accessor(untyped); err == nil {
			rejected.Key = keyOf(untyped)
			rejected.ResourceVersion = accessor.GetResourceVersion()
		}
		s.sink.Report(rejected)
		return obj, "", false
	}
	version := ""
	if v, ok := untyped.(versionGetter); ok {
		version = v.GetResourceVersion()
	}
	return obj, version, true
}
