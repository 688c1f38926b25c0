package view

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// selectorIndex finds the selectors that match an object, of many that are numbered: each
// is filed under one value of one label that it requires, or with those that require none.
type selectorIndex struct {
	entries []selectorEntry // by number
	byLabel map[labelValue]rowSet
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

// put has a number be that of a selector, nil for none.
func (x *selectorIndex) put(number uint32, namespace string, selector labels.Selector) {
	for int(number) >= len(x.entries) {
		x.entries = append(x.entries, selectorEntry{})
	}
	if x.byLabel == nil {
		x.byLabel = map[labelValue]rowSet{}
	}
	e := &x.entries[number]
	for _, at := range e.filed {
		rows := x.byLabel[at]
		rows.remove(number)
		if rows.len() == 0 {
			delete(x.byLabel, at)
		} else {
			x.byLabel[at] = rows
		}
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
		rows := x.byLabel[at]
		rows.add(number)
		x.byLabel[at] = rows
	}
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
			rows := x.byLabel[at]
			places, n = append(places, at), n+1+rows.len()
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
		return r.Values().UnsortedList()
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
	try := func(number uint32) {
		if x.entries[number].selector.Matches(set) {
			f(number)
		}
	}
	rows := x.byLabel[labelValue{namespace: namespace}]
	rows.each(try)
	for label, value := range set {
		if rows, ok := x.byLabel[labelValue{namespace, label, value}]; ok {
			rows.each(try)
		}
	}
}
