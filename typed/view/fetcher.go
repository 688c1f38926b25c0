package view

import (
	"fmt"

	"github.com/kubetyped/informer/index"
)

// Fetcher is what a function of [Compute] fetches with, and by which what it fetches is
// noted. It is not to be used when the function has returned.
type Fetcher struct {
	name    string
	lookups []dependency
	active  bool

	row   uint32 // that is computed
	again bool   // its object is the one of the last commit, see computed.fixed
}

// dependency is a lookup that a stage uses.
type dependency struct {
	definition *definition
	dependents
}

// dependents are the rows of a stage that depend on a lookup, by what each has fetched.
type dependents interface {
	// affected calls mark for each row of which something that it has fetched has
	// changed in this step, with the reason.
	affected(mark func(row uint32, reason index.Reason))
	// commit makes a row depend on the results fetched since the last commit, and on nothing
	// else.
	commit(row uint32)
	// explain returns what a row depends on.
	explain(row uint32, lookup *definition) []Fetched
}

// of returns the dependents of a lookup, nil if that was not named.
func (f *Fetcher) of(d *definition) dependents {
	for _, l := range f.lookups {
		if l.definition == d {
			return l.dependents
		}
	}
	return nil
}

// use returns the dependents of a lookup, for a call of the user's.
func (f *Fetcher) use(d *definition) dependents {
	switch {
	case f == nil:
		panic("view: a fetcher is nil; use the one that the function of Compute was called with")
	case !f.active:
		panic(fmt.Sprintf("view %s: a fetcher is used after the function that it was given to has returned", f.name))
	}
	found := f.of(d)
	if found == nil {
		panic(fmt.Sprintf("view %s: the lookup %s was not named when the view was made", f.name, d.name))
	}
	return found
}

// AnyLookup is a [Lookup], [LabelLookup] or [SelectorLookup].
type AnyLookup interface {
	defined() *definition
	depend(p *program) dependents
}

// Fetched reports something that was fetched.
type Fetched struct {
	// From is the name of the lookup.
	From string
	// Key is the key, or the selector or labels, in words.
	Key string
	// Objects are the keys of the objects found, in order.
	Objects []string
}
