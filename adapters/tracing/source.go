package tracing

import (
	"context"
	"reflect"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// Source returns a source that traces the events of watches that src reports, see Tracer, and
// the Events that its handlers need, see Enqueue and Handler. It is what src is: located,
// sharded, sharing, named. It belongs right around what talks to the API server, inside of
// source.Map, FilterMap and fleets, because there objects still contain when they were
// written, and by which manager; one that is projected to a struct without a resource version
// is known by its key alone.
//
// One informer should have the source. A source of source.FromNamespaces or package shard
// is wrapped as a whole.
//
// If t is nil, it returns src and nil.
func Source[T index.Object](t *Tracer, src source.Source[T]) (source.Source[T], *Events) {
	if t == nil {
		return src, nil
	}
	events := &Events{tracer: t, kind: kindOf(src), underway: newBounded[index.Key, []event](t)}
	if src == nil {
		return nil, events // the informer says so
	}
	return wrap(src, events), events
}

// wrap returns src with its events.
func wrap[T index.Object](src source.Source[T], events *Events) source.Source[T] {
	s := &tracedSource[T]{source: src, events: events}
	sharder, shards := src.(source.Sharder[T])
	byName, isNamed := src.(source.Named)
	switch {
	case shards && isNamed:
		return &tracedNamedSharder[T]{&tracedSharder[T]{s, sharder}, byName}
	case shards:
		return &tracedSharder[T]{s, sharder}
	case isNamed:
		return &tracedNamed[T]{s, byName}
	}
	return s
}

// kindOf returns what the objects of a source are called.
func kindOf[T index.Object](src source.Source[T]) string {
	if origin := source.OriginOf(src); origin.Kind.Kind != "" {
		return origin.Kind.Kind
	} else if origin.Resource.Resource != "" {
		return origin.Resource.Resource
	}
	of := reflect.TypeFor[T]()
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	return of.Name()
}

// tracedSource is the Source that Source returns.
type tracedSource[T index.Object] struct {
	source source.Source[T]
	events *Events
}

// Run implements source.Source.
func (s *tracedSource[T]) Run(ctx context.Context, sink source.Sink[T]) error {
	return s.source.Run(ctx, &tracedSink[T]{Forwarder: source.Forwarder[T]{To: sink}, events: s.events})
}

// Origin implements source.Located.
func (s *tracedSource[T]) Origin() source.Origin { return source.OriginOf(s.source) }

// Omits implements source.Partial.
func (s *tracedSource[T]) Omits(field string) bool { return source.Omits(s.source, field) }

// Ahead implements source.Leading.
func (s *tracedSource[T]) Ahead() (keys int, highest uint64) { return source.AheadOf(s.source) }

// DerivedFrom implements source.Derived.
func (s *tracedSource[T]) DerivedFrom() []source.Derived { return source.DerivedOf(s.source) }

// At implements source.Versions.
func (s *tracedSource[T]) At(key index.Key) string { return source.VersionAt(s.source, key) }

// Followed implements source.Following.
func (s *tracedSource[T]) Followed() source.Followed {
	if following, ok := s.source.(source.Following); ok {
		return following.Followed()
	}
	return source.Followed{}
}

// tracedSharder is one of a source that is a source.Sharder.
type tracedSharder[T index.Object] struct {
	*tracedSource[T]
	sharder source.Sharder[T]
}

// InShards implements source.Sharder.
func (s *tracedSharder[T]) InShards(selector string) source.Source[T] {
	return wrap(s.sharder.InShards(selector), s.events)
}

// tracedNamed is one of a source that is source.Named.
type tracedNamed[T index.Object] struct {
	*tracedSource[T]
	named
}

// tracedNamedSharder is one of a source that is both.
type tracedNamedSharder[T index.Object] struct {
	*tracedSharder[T]
	named
}

// named is a source.Named, under a name that does not hide its method.
type named interface{ source.Named }
