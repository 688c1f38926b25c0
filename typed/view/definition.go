package view

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// definition is what is known of a view, or of a Lookup, before it runs.
type definition struct {
	name    string
	err     error         // what is wrong with it, or with an input
	inputs  []*definition // what it is made of
	leaves  []leaf        // what it is made of in the end, each once
	origins []*origin     // the informers whose objects it passes on as they are, or changed a little
}

// leaf is an input of a view that is not a view: an informer or a Set.
type leaf interface {
	inputName() string
	same(other leaf) bool
	// derived returns what ways through informers begin with.
	derived() source.Derived
}

// define returns the definition of a view or a Lookup that is made of inputs.
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
	if _, err := findDiamond(d.leaves); err != nil {
		d.err = fmt.Errorf("view %s: %w", name, err)
	}
	return d
}

// describe returns the name of a view of a kind that is made of others.
func describe(kind string, inputs ...*definition) string {
	names := make([]string, len(inputs))
	for i, in := range inputs {
		names[i] = "nil"
		if in != nil {
			names[i] = in.name
		}
	}
	return kind + "(" + strings.Join(names, ", ") + ")"
}

// defined returns the definition of a lookup, nil for the zero one.
func (d *definition) defined() *definition { return d }

// defined returns the definition of a view, nil for a nil view.
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
