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
//     the projection, that is the same.
//  3. There is no event for one that was not in the store and does not come into
//     the projection.
//
// See Map for what project has to be. Nothing is remembered here: the store
// knows what it has. So a source that is filtered costs no memory for what is
// left out.
//
// To handlers that are to see some objects only, while the store has all, give
// control.Filter instead.
func FilterMap[A, B index.Object](src Source[A], project func(obj A) (B, bool)) Source[B] {
	return &projectedSource[A, B]{source: src, project: project}
}

// projectedSource is a Source of projections of the objects of another one.
type projectedSource[A, B index.Object] struct {
	source  Source[A]
	project func(A) (B, bool)
}

// Run implements Source.
func (s *projectedSource[A, B]) Run(ctx context.Context, sink Sink[B]) error {
	switch {
	case s.source == nil:
		return errors.New("the source to project is nil")
	case s.project == nil:
		return errors.New("the function that projects is nil")
	}
	return s.source.Run(ctx, &projection[A, B]{
		passedOn: sink, sink: sink, project: s.project,
	})
}

// Origin implements Located.
func (s *projectedSource[A, B]) Origin() Origin { return OriginOf(s.source) }

// projection is the Sink of objects that are projected before they are passed
// on.
type projection[A, B index.Object] struct {
	passedOn
	sink    Sink[B]
	project func(A) (B, bool)
}

// passedOn is what the type of the objects does not matter to.
type passedOn interface {
	Remove(key index.Key, reason index.Reason, resourceVersion string)
	ReplaceStaged(namespace string, list []Staged, resourceVersion string)
	RemoveNamespace(namespace, resourceVersion string)
	ReplacePart(list []Staged, gone []index.Key, reason index.Reason, resourceVersion string)
	Bookmark(resourceVersion string)
	Progress(received, expected int)
	Report(err error)
}

// Put implements Sink.
func (p *projection[A, B]) Put(obj A, resourceVersion string) {
	p.change(obj, resourceVersion, p.sink.Put)
}

// Delete implements Sink.
func (p *projection[A, B]) Delete(obj A, resourceVersion string) {
	if !p.change(obj, resourceVersion, p.sink.Delete) {
		p.Remove(index.KeyOf(obj), index.Watched, resourceVersion)
	}
}

// change reports the change of an object. One that is outside of the projection
// is removed, which is nothing if it is not there, but for the version. It returns
// false if the object has a key, but cannot be projected.
func (p *projection[A, B]) change(obj A, resourceVersion string, report func(B, string)) bool {
	var nothing A
	projected, kept, ok := p.apply(obj, resourceVersion, false)
	switch {
	case !ok:
		return obj == nothing
	case kept:
		report(projected, resourceVersion)
	default:
		p.Remove(index.KeyOf(obj), index.OutOfScope, resourceVersion)
	}
	return true
}

// Replace implements Sink.
func (p *projection[A, B]) Replace(namespace string, objs []A, resourceVersion string) {
	p.ReplaceStaged(namespace, stageAll(p, objs), resourceVersion)
}

// Stage implements Sink.
func (p *projection[A, B]) Stage(obj A, resourceVersion string) Staged {
	projected, kept, ok := p.apply(obj, resourceVersion, true)
	switch {
	case !ok:
		return Reject()
	case !kept:
		return LeaveOut()
	}
	return p.sink.Stage(projected, resourceVersion)
}

// apply projects an object. It reports whether that is to be kept, and whether
// all went well; if not, that is reported. Listed tells that it is one of a list.
func (p *projection[A, B]) apply(obj A, resourceVersion string, listed bool) (projected B, kept, ok bool) {
	var nothing A
	var none B
	if obj == nothing {
		p.Report(&RejectedError{ResourceVersion: resourceVersion, Listed: listed, Err: ErrNilObject})
		return none, false, false
	}
	key := index.KeyOf(obj)
	projected, kept, err := p.call(obj, key)
	if err == nil && !kept {
		return none, false, true
	}
	if err != nil {
		p.Report(&RejectedError{Key: key, ResourceVersion: resourceVersion, Listed: listed, Err: err})
		return none, false, false
	}
	return projected, true, true
}

// call projects an object of a key, and says what is wrong with the result.
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
	if projected == none {
		return none, true, errors.New("its projection is nil")
	}
	if got := index.KeyOf(projected); got != key {
		return none, true, fmt.Errorf("its projection has another key, %q", got)
	}
	return projected, true, nil
}
