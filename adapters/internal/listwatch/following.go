package listwatch

import (
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubetyped/informer/typed/source"
)

// Following is which kinds of a factory follow a set of namespaces: those that K names, or all
// if none is named. The zero Following is none.
type Following[K comparable] struct {
	// OutOfScope is that of Namespaces.
	OutOfScope bool
	// Err is why no informer of the factory can run; nil: they can.
	Err error

	set   *source.Namespaces
	given bool        // a set, which may be nil: then informers return an error
	named sets.Set[K] // nil: all
}

// Follow makes kinds follow a set, instead of those before.
func (f *Following[K]) Follow(set *source.Namespaces, named ...K) {
	f.set, f.given, f.named = set, true, nil
	if len(named) > 0 {
		f.named = sets.New(named...)
	}
}

// Follows reports whether a kind follows the set.
func (f *Following[K]) Follows(name K) bool { return f.given && (f.named == nil || f.named.Has(name)) }

// FollowsAll reports whether all kinds follow the set.
func (f *Following[K]) FollowsAll() bool { return f.given && f.named == nil }

// Named returns the kinds that were named.
func (f *Following[K]) Named() sets.Set[K] { return f.named }

// Of returns the set that a kind follows, nil if it follows none.
func (f *Following[K]) Of(name K) *Namespaces {
	switch {
	case f.Err != nil:
		return &Namespaces{Err: f.Err}
	case !f.Follows(name):
		return nil
	}
	return &Namespaces{Set: f.set, OutOfScope: f.OutOfScope}
}
