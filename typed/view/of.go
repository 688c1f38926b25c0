package view

import (
	"errors"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/typed"
)

// Of returns a view of the objects of an informer, which the program runs. The same informer,
// or uses of it, may be in a view many times: all that is computed is of one state of it.
//
// An informer of a view is an input as any other: what is made of it and of what that view is
// made of, in the end, could see two states of this, and is an error that names both ways; so
// is what is made of two such informers that have something in common. Give the views in the
// places of their informers then. Ways lead through all sources that are source.Derived:
// projections, sets of namespaces, fleets, shards, traced ones, and adapters.FromShared. Where
// they open others as they run, the view looks again, and Run ends with the error.
func Of[T index.Object](informer typed.Followed[T]) *View[T] {
	if argument.IsNil(informer) {
		return newView[T](define(typeName[T](), nil, errors.New("informer is nil")), nil)
	}
	of := &origin{name: typeName[T]()}
	if partial, ok := informer.(interface{ Omits(field string) bool }); ok {
		of.omits = partial.Omits
	}
	v := newInput(of.name, inputLeaf[T]{
		from: informer,
		is: func(other followable[T]) bool {
			o, ok := other.(typed.Followed[T])
			return ok && informer.Is(o)
		},
	})
	v.origins = []*origin{of}
	return v
}

func newInput[T index.Object](name string, l inputLeaf[T]) *View[T] {
	d := define(name, nil, checkPlaces[T]())
	d.leaves = []leaf{l}
	return newView(d, func(p *program) *table[T] {
		for _, in := range p.inputs {
			if f, ok := in.(*feed[T]); ok && f.same(l) {
				f.origins = append(f.origins, d.origins...)
				return &f.table
			}
		}
		f := &feed[T]{inputLeaf: l, origins: d.origins}
		f.inbox.needs = func() []string { return p.needs(f.origins) }
		p.inputs = append(p.inputs, f)
		return addView(p, f, &f.table, l.inputName(), nil)
	})
}
