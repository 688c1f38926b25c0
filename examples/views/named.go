package main

import "github.com/kubetyped/informer/index"

// named is the namespace and name of what a view makes, which are all that it needs to
// be an object.
type named struct{ Namespace, Name string }

func (n named) GetNamespace() string { return n.Namespace }
func (n named) GetName() string      { return n.Name }

// key is the name in words: "namespace/name", or the name alone.
func (n named) key() index.Key { return index.Key(n) }

// nameOf is the name of an object, for another one of the same name.
func nameOf[T index.Object](obj T) named { return named(index.KeyOf(obj)) }
