package view

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubetyped/informer/index"
)

// definition is what is known of a view, or of a Lookup, before it runs.
type definition struct {
	name    string
	err     error         // what is wrong with it, or with what it is made of
	inputs  []*definition // what it is made of
	leaves  []leaf        // what it is made of in the end, each once
	origins []*origin     // the informers whose objects it passes on as they are, or changed a little
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
			errs = append(errs, errors.New("input is nil"))
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
	if err := d.findDiamond(); err != nil {
		d.err = fmt.Errorf("view %s: %w", name, err)
	}
	return d
}

// findDiamond returns an error if two leaves are made of the same in the end, by way of
// informers of views, or one of them of the other: these need not be of one moment.
func (d *definition) findDiamond() error {
	var seen []root
	for _, l := range d.leaves {
		own := len(seen)
		for _, below := range rootsOf(l) {
			at := slices.IndexFunc(seen, func(other root) bool { return other.leaf.same(below) })
			switch {
			case at < 0:
				seen = append(seen, root{below, l})
			case at < own:
				one, other := l, seen[at].of
				if below.same(one) {
					one, other = other, one
				}
				return diamondError(below, one, other)
			}
		}
	}
	return nil
}

// root is what a leaf is made of.
type root struct{ leaf, of leaf }

// rootsOf returns a leaf, and all that it is made of.
func rootsOf(l leaf) []leaf {
	roots := []leaf{l}
	for _, below := range l.beneath() {
		roots = append(roots, rootsOf(below)...)
	}
	return roots
}

// diamondError tells of an informer of a view, and of another input, that have something in
// common.
func diamondError(common, one, other leaf) error {
	if common.same(other) {
		return fmt.Errorf("it is made of %s and of the informer %s, which is made of the same, so that both need not be of one moment; "+
			"give the view that %s is made of, in its place", common.inputName(), one.inputName(), one.inputName())
	}
	return fmt.Errorf("it is made of the informers %s and %s, which are both made of %s, so that both need not be of one moment; "+
		"give the views that they are made of, in their place", other.inputName(), one.inputName(), common.inputName())
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
