package source

import "github.com/kubetyped/informer/index"

// Change is a change of one object.
type Change[T index.Object] struct {
	// Object is the new state, or the last one if Deleted is set.
	Object  T
	Deleted bool
}

// Stepper is a Sink that takes in several changes as one. Informers have one.
type Stepper[T index.Object] interface {
	Sink[T]
	// Step reports changes that belong together, no two of them of one key unless the
	// first is a deletion: who reads sees all of them, or none. Done, unless it is nil, is
	// called when reads reflect them, by another goroutine, and must return soon; it is
	// not called if the informer ends before. Without changes, Step is a Bookmark.
	Step(changes []Change[T], resourceVersion string, done func())
}

// Step reports changes as one to a sink that is a Stepper, and one by one to others.
func Step[T index.Object](sink Sink[T], changes []Change[T], resourceVersion string, done func()) {
	if stepper, ok := sink.(Stepper[T]); ok {
		stepper.Step(changes, resourceVersion, done)
		return
	}
	for i, c := range changes {
		version := ""
		if i == len(changes)-1 {
			version = resourceVersion
		}
		if c.Deleted {
			sink.Delete(c.Object, version)
		} else {
			sink.Put(c.Object, version)
		}
	}
	if len(changes) == 0 && resourceVersion != "" {
		sink.Bookmark(resourceVersion)
	}
	if done != nil {
		Confirm(sink, done)
	}
}

// Confirm has done called when reads reflect all that was reported to a sink before: by
// another goroutine, as with Step, if the sink is a Stepper, or a Map, FilterMap or
// FromNamespaces before one; and at once otherwise.
func Confirm[T index.Object](sink Sink[T], done func()) {
	switch s := sink.(type) {
	case Stepper[T]:
		s.Step(nil, "", done)
	case confirmer:
		s.confirm(done)
	default:
		done()
	}
}

// confirmer is a Sink before another one.
type confirmer interface{ confirm(done func()) }

func (p *projection[A, B]) confirm(done func()) { Confirm(p.sink, done) }
func (s *namespaceSink[T]) confirm(done func()) { Confirm(s.sink, done) }
