package view

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubetyped/informer/index"
)

// definition is what is known of a view, or of a Lookup, before it runs.
type definition struct {
	name   string
	err    error         // what is wrong with it, or with what it is made of
	inputs []*definition // what it is made of
	leaves []leaf        // what it is made of in the end, each once
}

// leaf is an input of a view that is not a view: an informer or a Set.
type leaf interface {
	inputName() string
	same(other leaf) bool
	// beneath returns what an informer is made of, if that is a view.
	beneath() []leaf
}

// define returns the definition of what is made of inputs.
func define(name string, inputs []*definition, errs ...error) *definition {
	d := &definition{name: name, inputs: inputs}
	for _, in := range inputs {
		if in == nil {
			errs = append(errs, errors.New("an input is nil"))
			continue
		}
		if in.err != nil {
			d.err = in.err
			return d
		}
		for _, l := range in.leaves {
			if !slices.ContainsFunc(d.leaves, l.same) {
				d.leaves = append(d.leaves, l)
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		d.err = fmt.Errorf("view %s: %w", name, err)
		return d
	}
	for _, l := range d.leaves {
		for _, below := range l.beneath() {
			if i := slices.IndexFunc(d.leaves, below.same); i >= 0 {
				d.err = fmt.Errorf("view %s: it is made of %s and of the informer %s, which is made of the same, so that both need not be of one moment; "+
					"give the view that %s is made of, in its place", name, d.leaves[i].inputName(), l.inputName(), l.inputName())
			}
		}
	}
	return d
}

// describe returns the name of a view of a kind that is made of others.
func describe(kind string, inputs ...*definition) string {
	s := kind + "("
	for i, in := range inputs {
		if i > 0 {
			s += ", "
		}
		if in != nil {
			s += in.name
		} else {
			s += "nil"
		}
	}
	return s + ")"
}

func (v *View[T]) defined() *definition {
	if v == nil {
		return nil
	}
	return v.definition
}

// typeName returns the name of a type of objects.
func typeName[T index.Object]() string {
	var none T
	return fmt.Sprintf("%T", none)
}
