package typed

import (
	"context"
	"errors"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
)

// inlet is the Sink of an informer: it checks and transforms each object, once,
// on the goroutine of the source, and queues it.
type inlet[T index.Object] struct {
	*queue.DeltaFIFO[T]

	ctx       context.Context // of Run, for logging
	name      string
	transform func(T) (T, error) // may be nil
	nameless  bool               // objects without a name are stored
	health    *health
	progress  *progress
}

// Add implements Sink.
func (s *inlet[T]) Add(obj T, resourceVersion string) {
	if obj, ok := s.admit(obj, resourceVersion); ok {
		s.DeltaFIFO.Add(obj, resourceVersion)
	}
}

// Update implements Sink.
func (s *inlet[T]) Update(obj T, resourceVersion string) {
	if obj, ok := s.admit(obj, resourceVersion); ok {
		s.DeltaFIFO.Update(obj, resourceVersion)
	}
}

// Delete implements Sink.
func (s *inlet[T]) Delete(obj T, resourceVersion string) {
	if obj, ok := s.admit(obj, resourceVersion); ok {
		s.DeltaFIFO.Delete(obj, resourceVersion)
	}
}

// Remove implements Sink.
func (s *inlet[T]) Remove(key index.Key, resourceVersion string) {
	s.DeltaFIFO.Remove(key.Namespace, key.Name, resourceVersion)
}

// Replace implements Sink.
func (s *inlet[T]) Replace(objs []T, resourceVersion string) {
	s.replace(s.admitAll(objs, resourceVersion), resourceVersion)
}

// ReplaceNamespace implements Sink.
func (s *inlet[T]) ReplaceNamespace(namespace string, objs []T, resourceVersion string) {
	s.DeltaFIFO.ReplaceNamespace(namespace, s.admitAll(objs, resourceVersion), resourceVersion)
}

// stage implements stager.
func (s *inlet[T]) stage(obj T, resourceVersion string) staged {
	obj, ok := s.admit(obj, resourceVersion)
	if !ok {
		return leftOut{}
	}
	return stagedObject[T]{obj}
}

// replaceStaged implements listSink.
func (s *inlet[T]) replaceStaged(list []staged, resourceVersion string) {
	s.replace(unstage[T](list), resourceVersion)
}

// replaceNamespaceStaged implements listSink.
func (s *inlet[T]) replaceNamespaceStaged(namespace string, list []staged, resourceVersion string) {
	s.DeltaFIFO.ReplaceNamespace(namespace, unstage[T](list), resourceVersion)
}

// replace queues all objects that there are, which were admitted.
func (s *inlet[T]) replace(objs []T, resourceVersion string) {
	s.progress.note(len(objs), len(objs))
	s.health.report(s.ctx, s.name, nil) // before anybody can see that it has synced
	s.DeltaFIFO.Replace(objs, resourceVersion)
}

// admitAll returns those of objs that can be stored, as they are to be stored.
func (s *inlet[T]) admitAll(objs []T, resourceVersion string) []T {
	admitted := objs[:0]
	for _, obj := range objs {
		if obj, ok := s.admit(obj, resourceVersion); ok {
			admitted = append(admitted, obj)
		}
	}
	clear(objs[len(admitted):])
	return admitted
}

// Progress implements Sink.
func (s *inlet[T]) Progress(received, expected int) { s.progress.note(received, expected) }

// Report implements Sink.
func (s *inlet[T]) Report(err error) { s.health.report(s.ctx, s.name, err) }

var errNilObject = errors.New("it is nil")

// admit returns obj as it is to be stored, false if it cannot be.
func (s *inlet[T]) admit(obj T, resourceVersion string) (T, bool) {
	var none T
	if obj == none {
		s.reject(index.Key{}, resourceVersion, errNilObject)
		return none, false
	}
	if s.transform == nil {
		return obj, s.isNamed(obj, resourceVersion)
	}
	transformed, err := s.transform(obj)
	switch {
	case err != nil:
		s.reject(index.KeyOf(obj), resourceVersion, err)
		return none, false
	case transformed == none:
		s.reject(index.KeyOf(obj), resourceVersion, errNilObject)
		return none, false
	}
	return transformed, s.isNamed(transformed, resourceVersion)
}

var errNoName = errors.New("it has no name")

// isNamed reports whether an object has a name, and rejects it otherwise: all
// objects without one would be one to the store.
func (s *inlet[T]) isNamed(obj T, resourceVersion string) bool {
	if s.nameless || obj.GetName() != "" {
		return true
	}
	s.reject(index.KeyOf(obj), resourceVersion, errNoName)
	return false
}

func (s *inlet[T]) reject(key index.Key, resourceVersion string, err error) {
	s.Report(&RejectedError{Informer: s.name, Key: key, ResourceVersion: resourceVersion, Err: err})
}
