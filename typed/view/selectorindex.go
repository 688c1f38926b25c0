package view

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// selectorIndex finds the selectors that match an object, of many that are numbered: each
// is filed under one value of one label that it requires, or with those that require none.
type selectorIndex struct {
	entries []selectorEntry // by number
	spaces  map[string]*selectorSpace
}

// selectorSpace is the selectors of a namespace, or of those for all.
type selectorSpace struct {
	any     rowSet                        // that require no value of a label
	byLabel map[string]map[string]*rowSet // by label and value
}

// labelValue is a label with a value, in a namespace, "" for everywhere. Without a label,
// it stands for any object.
type labelValue struct{ namespace, label, value string }

// selectorEntry is a selector for objects of a namespace, "" for all.
type selectorEntry struct {
	namespace string
	selector  labels.Selector // nil: there is none
	filed     []labelValue
}

// put sets the selector of a number, nil for none.
func (x *selectorIndex) put(number uint32, namespace string, selector labels.Selector) {
	x.entries = grown(x.entries, int(number)+1)
	e := &x.entries[number]
	for _, at := range e.filed {
		x.unfile(at, number)
	}
	*e = selectorEntry{}
	if selector == nil {
		return
	}
	requirements, selectable := selector.Requirements()
	if !selectable {
		return // it matches nothing
	}
	*e = selectorEntry{namespace, selector, x.places(namespace, requirements)}
	for _, at := range e.filed {
		x.file(at, number)
	}
}

func (x *selectorIndex) file(at labelValue, number uint32) {
	space := x.spaces[at.namespace]
	if space == nil {
		space = &selectorSpace{byLabel: map[string]map[string]*rowSet{}}
		if x.spaces == nil {
			x.spaces = map[string]*selectorSpace{}
		}
		x.spaces[at.namespace] = space
	}
	if at.label == "" {
		space.any.add(number)
		return
	}
	values := space.byLabel[at.label]
	if values == nil {
		values = map[string]*rowSet{}
		space.byLabel[at.label] = values
	}
	rows := values[at.value]
	if rows == nil {
		rows = &rowSet{}
		values[at.value] = rows
	}
	rows.add(number)
}

// unfile takes back a call of file.
func (x *selectorIndex) unfile(at labelValue, number uint32) {
	space := x.spaces[at.namespace]
	if at.label == "" {
		space.any.remove(number)
	} else {
		values := space.byLabel[at.label]
		rows := values[at.value]
		if rows.remove(number); rows.len() == 0 {
			delete(values, at.value)
		}
		if len(values) == 0 {
			delete(space.byLabel, at.label)
		}
	}
	if space.any.len() == 0 && len(space.byLabel) == 0 {
		delete(x.spaces, at.namespace)
	}
}

// filed returns how many selectors are filed at a place.
func (x *selectorIndex) filed(at labelValue) int {
	if space := x.spaces[at.namespace]; space != nil {
		if rows := space.byLabel[at.label][at.value]; rows != nil {
			return rows.len()
		}
	}
	return 0
}

// places returns where to file a selector: under the values of the requirement that the
// fewest others are filed under.
func (x *selectorIndex) places(namespace string, requirements labels.Requirements) []labelValue {
	var best []labelValue
	fewest := 0
	for _, r := range requirements {
		values := valuesOf(r)
		if values == nil {
			continue
		}
		places, n := make([]labelValue, 0, len(values)), 0
		for _, value := range values {
			at := labelValue{namespace, r.Key(), value}
			places, n = append(places, at), n+1+x.filed(at)
		}
		if best == nil || n < fewest {
			best, fewest = places, n
		}
	}
	if best == nil {
		best = []labelValue{{namespace: namespace}}
	}
	return best
}

// valuesOf returns the values of which a label has to have one, nil if it may have others,
// or be missing.
func valuesOf(r labels.Requirement) []string {
	switch r.Operator() {
	case selection.Equals, selection.DoubleEquals, selection.In:
		values := r.ValuesUnsorted() // a copy, which may have one twice
		slices.Sort(values)
		return slices.Compact(values)
	}
	return nil
}

// matching calls f with the number of each selector that matches an object, once.
func (x *selectorIndex) matching(namespace string, set labels.Set, f func(number uint32)) {
	x.matchingIn(namespace, set, f)
	if namespace != "" {
		x.matchingIn("", set, f)
	}
}

func (x *selectorIndex) matchingIn(namespace string, set labels.Set, f func(number uint32)) {
	space := x.spaces[namespace]
	if space == nil {
		return
	}
	try := func(number uint32) {
		if x.entries[number].selector.Matches(set) {
			f(number)
		}
	}
	space.any.each(try)
	for label, values := range space.byLabel { // fewer than an object has, most often
		if value, ok := set[label]; ok {
			if rows := values[value]; rows != nil {
				rows.each(try)
			}
		}
	}
}
