package view

import "github.com/kubetyped/informer/index"

// Named is the namespace and the name of a result, to be embedded in its type, which then
// is an index.Object:
//
//	type Ready struct {
//		view.Named
//		Pods int
//	}
//
//	Ready{Named: view.NamedAs(service), Pods: n}
type Named struct{ Namespace, Name string }

// NamedAs returns the namespace and the name of an object.
func NamedAs[T index.Object](obj T) Named { return Named(index.KeyOf(obj)) }

// Key returns the key of the object.
func (n Named) Key() index.Key { return index.Key(n) }

// GetNamespace implements index.Object.
func (n Named) GetNamespace() string { return n.Namespace }

// GetName implements index.Object.
func (n Named) GetName() string { return n.Name }
