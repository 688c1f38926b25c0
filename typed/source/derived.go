package source

import "github.com/kubetyped/informer/index"

// Derived is a Source whose objects are those of others or of informers, or are made of them,
// such as a Map, a fleet or a view; or it is an informer. Package view follows it to find two
// ways that lead from one informer to another, see view.Of. So a custom
// Source that wraps another one should implement it.
type Derived interface {
	// DerivedFrom returns what the objects come from now, as far as that is Derived, too.
	// It may be called at any time, by several goroutines.
	DerivedFrom() []Derived
}

// DerivedOf returns a source as what another one is derived from, nil if it is not Derived.
func DerivedOf[T index.Object](src Source[T]) []Derived {
	if derived, ok := src.(Derived); ok {
		return []Derived{derived}
	}
	return nil
}
