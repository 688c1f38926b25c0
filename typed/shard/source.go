package shard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/typed/source"
)

// Source is a source of the objects in the ranges that a member of a group has. It is made
// by NewSource, for one informer. All methods are safe for concurrent use.
type Source[T index.Object] struct {
	group *Group
	open  func() source.Source[T]
	name  string
	value func(obj T) (string, error)
	field string // that the server is asked to hash, "" for none
	needs string // the field that value reads, "" if that is not known
	err   error

	origin   source.Origin
	opened   source.Opened[T] // the first one, for the origin, and those that run
	received atomic.Int64
	foreign  atomic.Int64 // of those, outside of the ranges that were asked for
	asks     atomic.Bool  // a server was asked for ranges

	unselected atomic.Bool // it sends what was not asked for, in some watch

	mu       sync.Mutex
	placeOf  func(key index.Key) (uint8, bool) // guarded by mu; nil: it does not run
	at       func(r uint8) string              // guarded by mu; the same
	departed departed                          // guarded by mu
	worked   bool                              // guarded by mu; Reconcile was called
}

// SourceOption sets up a Source.
type SourceOption[T index.Object] func(*Source[T]) error

// BySame makes a source share its objects by another hash than that of its group, so that
// they belong to the member that has what they belong to: in a group by Key, Pods by OwnerKey
// are with the member that has their owner. What both hashes are given must be the same for
// objects that belong together.
func BySame[T index.Object](h Hash) SourceOption[T] {
	return func(s *Source[T]) error {
		if h.value == nil {
			return errors.New("the hash is not one of this package's functions")
		}
		s.name, s.value = h.name, func(obj T) (string, error) { return h.value(obj) }
		s.field, s.needs = h.field, h.needs
		return nil
	}
}

// By makes a source share its objects by the hash of what a function returns for each, which
// only members can do: the API server sends all objects. The function is called for each
// object that is received, by several goroutines; it must not modify the object, and must
// return the same in all members. An object for which it panics is rejected, see
// source.RejectedError.
func By[T index.Object](name string, value func(obj T) string) SourceOption[T] {
	return func(s *Source[T]) error {
		if name == "" || value == nil {
			return errors.New("what objects are shared by needs a name and a function")
		}
		s.name, s.field, s.needs = name, "", ""
		s.value = func(obj T) (v string, err error) {
			defer func() {
				if p := recover(); p != nil {
					goroutine.Report(context.Background(), p)
					err = fmt.Errorf("the function by which it is shared, %s, panics: %v", name, p)
				}
			}()
			return value(obj), nil
		}
		return nil
	}
}

// NewSource returns a source of those objects of another one that are in the group's ranges
// of this member:
//
//	pods := shard.NewSource(group, func() source.Source[*corev1.Pod] {
//		return kube.FromREST[*corev1.Pod](config)
//	})
//
// src is called for each list and watch that is needed: at first, and when ranges come. A
// source of package kube, in a group by UID or Namespace, asks the server for the ranges
// alone. Whether the server does that (its feature gate ShardedListAndWatch, alpha in
// Kubernetes 1.36), or sends all objects, it is looked at here as well, see Status.
//
//  1. The informer is synced when the first ranges have been listed. Until this member has
//     some, it reports a source.WaitingError.
//  2. Ranges that are to come are listed, and their objects are additions with the reason
//     index.Acquired, before this member owns them: see Owns. Objects that the informer has in
//     the same version are not reported again. Nothing else is listed for that, unless the
//     server sends all objects anyway, or there would be more than four watches.
//  3. Objects of ranges that go are deleted with the reason index.Released. That is after all
//     calls of reconcile functions for the range have returned.
//  4. An object whose hash changes leaves in the same way, or comes, if it belongs to another
//     member before or after that.
//  5. The resource version is the lowest of all watches. To wait for a write of this
//     member, wait for the watch that has it, by typed.Informer.WaitForKeyVersion.
//
// Sources are projected outside of it, by source.Map(NewSource(...), ...), and the key is
// that of the objects in the cluster.
func NewSource[T index.Object](group *Group, src func() source.Source[T], opts ...SourceOption[T]) *Source[T] {
	s := &Source[T]{group: group, open: src}
	switch {
	case group == nil:
		s.err = errors.New("group is nil")
		return s
	case src == nil:
		s.err = errors.New("source function is nil")
		return s
	}
	if s.err = argument.ApplyOptions(s, append([]SourceOption[T]{BySame[T](group.hash)}, opts...)); s.err != nil {
		return s
	}
	if group.hash.field == "" {
		s.field = "" // ranges are of another hash than the server's
	}
	if first := src(); first != nil {
		s.origin = source.OriginOf(first)
		_, _ = s.opened.Add(first, func() []string { return nil }) // which needs nothing
	}
	return s
}

// Origin implements source.Located.
func (s *Source[T]) Origin() source.Origin { return s.origin }

// Omits implements source.Partial.
func (s *Source[T]) Omits(field string) bool { return s.opened.Omits(field) }

// DerivedFrom implements source.Derived.
func (s *Source[T]) DerivedFrom() []source.Derived { return []source.Derived{&s.opened} }

// Run implements source.Source.
func (s *Source[T]) Run(ctx context.Context, sink source.Sink[T]) error {
	if s.err != nil {
		return s.err
	}
	return newParts(s, sink).run(ctx)
}

// rangeOf returns the range of an object.
func (s *Source[T]) rangeOf(obj T) (uint8, error) {
	value, err := s.value(obj)
	if err != nil {
		return 0, err
	}
	return s.group.rangeOf(value), nil
}

// Owns is like [Group.Owns], for a key of this source's objects, even if only the object
// determines its range: that of the object which the source has, or had until it was deleted.
func (s *Source[T]) Owns(key index.Key) bool {
	r, ok := s.rangeOfKey(key)
	return ok && s.group.owns(r)
}

// Generation is like [Group.Generation], for a key of this source's objects.
func (s *Source[T]) Generation(key index.Key) string {
	r, ok := s.rangeOfKey(key)
	if !ok {
		return ""
	}
	return s.group.generation(r)
}

// At implements source.Versions: it returns the version of the watch that has the range of a
// key. Where only objects determine their range, it is "" for a key that the source has no
// object of.
func (s *Source[T]) At(key index.Key) string {
	r, ok := s.rangeOfKey(key)
	s.mu.Lock()
	at := s.at
	s.mu.Unlock()
	if !ok || at == nil {
		return ""
	}
	return at(r)
}

// rangeOfKey returns the range of a key: by itself, or that of its object.
func (s *Source[T]) rangeOfKey(key index.Key) (uint8, bool) {
	if s.group != nil && s.name == s.group.hash.name && s.group.hash.ofKey != nil {
		return s.group.rangeOfKey(key)
	}
	s.mu.Lock()
	placeOf := s.placeOf
	s.mu.Unlock()
	if placeOf != nil {
		if r, ok := placeOf(key); ok {
			return r, true
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.departed.get(key)
}

// SourceStatus says whether the server selects the objects of a Source, and what that costs.
type SourceStatus struct {
	// By is the name of the hash.
	By string
	// Server says that the server was asked for ranges, and has sent nothing else by the
	// watches that there are. Otherwise it sends all objects, and they are selected here.
	Server bool
	// Received is how many objects the server has sent, in lists and watches, and Foreign
	// how many of them were none of the ranges that were asked for.
	Received, Foreign int64
}

// Status returns who selects the objects, and what that costs.
func (s *Source[T]) Status() SourceStatus {
	return SourceStatus{By: s.name, Server: s.asks.Load() && !s.unselected.Load(), Received: s.received.Load(), Foreign: s.foreign.Load()}
}

// mostDeparted is about how many keys of deleted objects are remembered.
const mostDeparted = 100_000

// departed remembers the ranges of objects that were deleted, until their keys have been worked
// on. When there are too many, it forgets the oldest.
type departed struct{ young, old map[index.Key]uint8 }

func (d *departed) add(key index.Key, r uint8) {
	if len(d.young) >= mostDeparted {
		d.old, d.young = d.young, nil
	}
	if d.young == nil {
		d.young = map[index.Key]uint8{}
	}
	d.young[key] = r
}

func (d *departed) get(key index.Key) (uint8, bool) {
	if r, ok := d.young[key]; ok {
		return r, true
	}
	r, ok := d.old[key]
	return r, ok
}

func (d *departed) remove(key index.Key) {
	delete(d.young, key)
	delete(d.old, key)
}
