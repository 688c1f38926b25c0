package view

import (
	"errors"
	"reflect"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// Of is the objects of an informer, which somebody else runs. The same informer, or uses
// of it, may be in a view many times: all that is computed is of one state of it.
//
// An informer of a view is an input as any other: what is made of it and of one of that
// view's own inputs could see two states of those, and is an error; give the view in the
// place of its informer then.
func Of[T index.Object](informer typed.Followed[T]) *View[T] {
	if informer == nil || reflect.ValueOf(informer).IsNil() {
		return newView[T](define(typeName[T](), nil, errors.New("the informer is nil")), nil)
	}
	return newInput(typeName[T](), inputLeaf[T]{
		from: informer,
		is: func(other followable[T]) bool {
			o, ok := other.(typed.Followed[T])
			return ok && typed.SameInformer(informer, o)
		},
		of: func() []leaf {
			if of, ok := typed.SourceOf(informer).(*View[T]); ok && of != nil {
				return of.leaves
			}
			return nil
		},
	})
}

func newInput[T index.Object](name string, l inputLeaf[T]) *View[T] {
	d := define(name, nil)
	d.leaves = []leaf{l}
	v := &View[T]{definition: d}
	v.start = func(p *program) *table[T] {
		for _, in := range p.inputs {
			if f, ok := in.(*feed[T]); ok && f.same(l) {
				return &f.table
			}
		}
		f := &feed[T]{inputLeaf: l}
		p.inputs = append(p.inputs, f)
		return addView(p, f, &f.table, l.inputName(), nil)
	}
	return v
}
