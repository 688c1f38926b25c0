package source

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
)

// FilterMap returns a source of what project makes of the objects of src, for
// which it also reports true. To handlers and readers there are no others:
//
//  1. An object that was not in the store and is in the projection is added.
//  2. One that was in the store is updated, or, when it leaves the projection,
//     deleted with its last state in the store and the reason
//     index.OutOfScope. When the server deletes it in a state that is outside of
//     the projection, that is the same. If a later list shows that, the reason
//     is index.Relisted.
//  3. There is no event for one that was not in the store and does not come into
//     the projection.
//
// See Map for the rules for project. The source keeps no state, because the store knows its
// objects, so filtered objects cost no memory.
//
// To handlers that are to see some objects only, while the store has all, give
// control.Filter instead.
func FilterMap[A, B index.Object](src Source[A], project func(obj A) (B, bool)) Source[B] {
	s := &projectedSource[A, B]{source: src, project: project}
	if named, ok := src.(Named); ok {
		return &projectedNamed[A, B]{s, named}
	}
	return s
}

// projectedNamed is one of a source that is Named: projections have the keys of their objects.
type projectedNamed[A, B index.Object] struct {
	*projectedSource[A, B]
	of Named
}

// Named implements Named.
func (s *projectedNamed[A, B]) Named() (index.Key, error) { return s.of.Named() }

// projectedSource is a Source of projections of the objects of another one.
type projectedSource[A, B index.Object] struct {
	source  Source[A]
	project func(A) (B, bool)
}

// Run implements Source.
func (s *projectedSource[A, B]) Run(ctx context.Context, sink Sink[B]) error {
	switch {
	case s.source == nil:
		return errors.New("source is nil")
	case s.project == nil:
		return errors.New("projection is nil")
	}
	return s.source.Run(ctx, &projection[A, B]{Forwarder: Forwarder[B]{sink}, project: s.project})
}

// Origin implements Located.
func (s *projectedSource[A, B]) Origin() Origin { return OriginOf(s.source) }

// At implements Versions.
func (s *projectedSource[A, B]) At(key index.Key) string { return VersionAt(s.source, key) }

// Omits implements Partial.
func (s *projectedSource[A, B]) Omits(field string) bool {
	same, ok := any(s.source).(Source[B])
	return ok && Omits(same, field)
}

// DerivedFrom implements Derived.
func (s *projectedSource[A, B]) DerivedFrom() []Derived { return DerivedOf(s.source) }

// projection is the Sink of objects that are projected before they are passed on. Calls that do
// not depend on the type of the objects pass through unchanged.
type projection[A, B index.Object] struct {
	Forwarder[B]
	project func(A) (B, bool)
}

// Change implements Sink.
func (p *projection[A, B]) Change(c index.Change[A], version string) {
	if projected, ok := p.change(c, version); ok {
		p.To.Change(projected, version)
	}
}

// Step implements Sink. What cannot be projected does not keep the rest from being a step.
func (p *projection[A, B]) Step(changes []index.Change[A], version string, done func()) {
	projected := make([]index.Change[B], 0, len(changes))
	for _, c := range changes {
		if b, ok := p.change(c, version); ok {
			projected = append(projected, b)
		}
	}
	p.To.Step(projected, version, done)
}

// change returns the change of the projections that corresponds to c, false if there is none,
// since the object cannot be projected. An object outside of the projection is removed; if it
// was not there, only the version changes. A deleted object whose last state cannot be
// projected is deleted by its key.
func (p *projection[A, B]) change(c index.Change[A], version string) (index.Change[B], bool) {
	var nothing A
	var none B
	if c.Delete && c.Key != nil {
		return ChangeFor(c, none), true
	}
	projected, kept, ok := p.apply(c.Object, version, false)
	if kept && ok {
		return ChangeFor(c, projected), true
	}
	if index.Same(c.Object, nothing) || !ok && !c.Delete {
		return index.Change[B]{}, false
	}
	key := index.KeyOf(c.Object)
	gone := ChangeFor(c, none)
	gone.Key = &key
	if ok && (!c.Delete || c.Reason == 0 || c.Reason == index.Watched) {
		gone.Reason = index.OutOfScope
	}
	gone.Delete = true
	return gone, true
}

// Decoding implements Sink. The sink holds projections, which have nothing in common with
// objects of the source, so Held is left out. But a projection may be the source's object, or
// contain parts of it, so Modifies stays.
func (p *projection[A, B]) Decoding() Decoding[A] {
	of := p.To.Decoding()
	decoding := Decoding[A]{Meter: of.Meter, Modifies: of.Modifies, Versioned: of.Versioned}
	if _, same := any(p.To).(Sink[A]); same { // as Omits does
		decoding.Needs = of.Needs
	}
	return decoding
}

// Stage implements Sink.
func (p *projection[A, B]) Stage(obj A, version string) Staged {
	projected, kept, ok := p.apply(obj, version, true)
	switch {
	case !ok:
		return Reject(keyOrNone(obj))
	case !kept:
		return LeaveOut()
	}
	return p.To.Stage(projected, version)
}

// keyOrNone returns the key of an object, the zero Key if that is nil.
func keyOrNone[T index.Object](obj T) (key index.Key) {
	var none T
	if !index.Same(obj, none) {
		key = index.KeyOf(obj)
	}
	return key
}

// apply projects an object. It returns whether the projection is to be kept, and whether all
// went well; if not, it reports the error. Listed is set for an object of a list.
func (p *projection[A, B]) apply(obj A, resourceVersion string, listed bool) (projected B, kept, ok bool) {
	var nothing A
	var none B
	if index.Same(obj, nothing) {
		p.Report(&RejectedError{ResourceVersion: resourceVersion, Listed: listed, Err: ErrNilObject})
		return none, false, false
	}
	key := index.KeyOf(obj)
	projected, kept, err := p.call(obj, key)
	if err != nil {
		p.Report(&RejectedError{Key: key, ResourceVersion: resourceVersion, Listed: listed, Err: err})
		return none, false, false
	}
	return projected, kept, true
}

// call projects an object of a key. It returns an error if the function panics, or returns nil
// or an object of another key.
func (p *projection[A, B]) call(obj A, key index.Key) (projected B, kept bool, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = &goroutine.PanicError{Of: "the function that projects", Value: panicked}
			goroutine.Crash(context.Background(), panicked)
		}
	}()
	var none B
	if projected, kept = p.project(obj); !kept {
		return none, false, nil
	}
	if index.Same(projected, none) {
		return none, true, errors.New("projected object is nil")
	}
	if got := index.KeyOf(projected); got != key {
		return none, true, fmt.Errorf("projected object has another key, %q", got)
	}
	return projected, true, nil
}

// Map returns a source of what project makes of the objects of src, so that an
// informer keeps only the fields that are needed:
//
//	type podNode struct{ namespace, name, node string }
//
//	source.Map(kube.FromClient(client.CoreV1().Pods("")), func(p *corev1.Pod) podNode {
//		return podNode{p.Namespace, p.Name, p.Spec.NodeName}
//	})
//
// project is called once for each object that is received, as soon as it is
// there: of a list that is streamed, no object is kept longer than that. For a
// deletion, it is given the last state that the server sent.
//
// The projection must have the name and the namespace of its object, and must
// not be nil; otherwise the object is rejected, see RejectedError. So the key of an
// object is that of its projection, and an object whose last state cannot be
// projected is deleted by it. The projection should not
// refer to the object, which would then be kept alive. It needs no resource
// version, since reports bring their own. project is called by one goroutine for
// each watch of src.
//
// An update that leaves the projection equal is still an update: all of src's reports are
// passed on.
//
// If src or project is nil, typed.Informer.Run returns an error.
func Map[A, B index.Object](src Source[A], project func(obj A) B) Source[B] {
	if project == nil {
		return FilterMap[A, B](src, nil)
	}
	return FilterMap(src, func(obj A) (B, bool) { return project(obj), true })
}
