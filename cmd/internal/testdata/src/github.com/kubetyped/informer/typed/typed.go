// Package typed is a stub.
package typed

import "iter"

type Informer[T any] struct{ all []T }

func (i *Informer[T]) Get(key string) (obj T, ok bool) { return obj, false }
func (i *Informer[T]) List() []T                       { return nil }
func (i *Informer[T]) All() iter.Seq[T]                { return func(func(T) bool) {} }

type Deleted[T any] struct {
	Key    string
	Object T
}

type HandlerFuncs[T any] struct {
	AddFunc    func(obj T, initial bool)
	UpdateFunc func(old, updated T)
	DeleteFunc func(deleted Deleted[T])
}

type Handler[T any] interface {
	OnAdd(obj T, initial bool)
	OnUpdate(old, updated T)
	OnDelete(deleted Deleted[T])
}

func (f HandlerFuncs[T]) OnAdd(obj T, initial bool)   {}
func (f HandlerFuncs[T]) OnUpdate(old, updated T)     {}
func (f HandlerFuncs[T]) OnDelete(deleted Deleted[T]) {}
