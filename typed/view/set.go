package view

import (
	"iter"
	"slices"
	"strconv"
	"sync"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// Set is objects that a program keeps by itself, from its configuration for example, as an
// input of views. Its methods are safe for concurrent use. Objects that are put in are
// shared, and must not be modified.
type Set[T index.Object] struct {
	mu        sync.Mutex
	name      string
	store     *index.Indexer[T]
	followers []typed.Follower[T] // guarded by mu
	version   int                 // guarded by mu
}

// NewSet returns a set of objects.
func NewSet[T index.Object](objects ...T) *Set[T] {
	s := &Set[T]{name: "Set of " + typeName[T](), store: index.NewIndexer[T]()}
	s.Put(objects...)
	return s
}

// Put adds objects, or new states of them, at once. It returns the version of the set that
// has them, see [View.WaitForResourceVersion]. It panics if an object is nil.
func (s *Set[T]) Put(objects ...T) (version string) {
	s.refuseNil(objects)
	changes := make([]index.Change[T], len(objects))
	for i, obj := range objects {
		changes[i] = index.Change[T]{Object: obj, Reason: index.Watched}
	}
	return s.change(func(version string) []typed.Event[T] { return s.store.Apply(nil, changes, version) })
}

// Delete removes the objects of keys, if they are there, at once.
func (s *Set[T]) Delete(keys ...index.Key) (version string) {
	changes := make([]index.Change[T], len(keys))
	for i := range keys {
		changes[i] = index.Change[T]{Delete: true, Key: &keys[i], Reason: index.Watched}
	}
	return s.change(func(version string) []typed.Event[T] { return s.store.Apply(nil, changes, version) })
}

// Replace replaces all objects with the given ones. It panics if one is nil.
func (s *Set[T]) Replace(objects ...T) (version string) {
	s.refuseNil(objects)
	return s.change(func(version string) []typed.Event[T] {
		return s.store.Replace(nil, append([]T(nil), objects...), version, index.Relisted)
	})
}

func (s *Set[T]) refuseNil(objects []T) {
	if slices.ContainsFunc(objects, isNone[T]) {
		panic("view: an object that is put into a " + s.name + " is nil")
	}
}

func (s *Set[T]) change(apply func(version string) []typed.Event[T]) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	version := strconv.Itoa(s.version + 1)
	events := apply(version)
	s.version++
	for _, f := range s.followers {
		f.Step(events, version)
	}
	return version
}

// View returns the objects of the set as a view.
func (s *Set[T]) View() *View[T] {
	return newInput(s.name, inputLeaf[T]{from: s, is: func(other followable[T]) bool { return other == followable[T](s) }})
}

// Name returns what errors call the set.
func (s *Set[T]) Name() string { return s.name }

// DerivedFrom implements source.Derived: there is nothing else.
func (s *Set[T]) DerivedFrom() []source.Derived { return nil }

// Follow connects a view with the set; see [typed.Followed].
func (s *Set[T]) Follow(f typed.Follower[T]) (unfollow func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Begin(s.store.Snapshot())
	f.Synced()
	s.followers = append(s.followers, f)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if i := slices.Index(s.followers, f); i >= 0 {
			s.followers = slices.Delete(s.followers, i, i+1)
		}
	}, nil
}

// All ranges over the objects of the set, in no particular order.
func (s *Set[T]) All() iter.Seq[T] { return s.store.All() }

// Get returns the object of a key, false if there is none.
func (s *Set[T]) Get(key index.Key) (T, bool) { return s.store.Get(key) }
