package view

import (
	"k8s.io/apimachinery/pkg/labels"
)

// labelIndex finds the objects that a selector selects, of many that are numbered. It has
// lists of the objects by the values of those labels that were asked for.
type labelIndex struct {
	// each calls f with the number of every object.
	each func(f func(number uint32))
	// of returns the namespace and the labels of an object.
	of func(number uint32) (namespace string, set labels.Set)

	families map[family]map[labelValue]*rowSet
}

// family is the lists by one label, "" for lists of all objects; in each namespace, or
// everywhere.
type family struct {
	label      string
	everywhere bool
}

// place returns the list of a family that an object belongs into, if it does.
func (f family) place(namespace string, set labels.Set) (labelValue, bool) {
	at := labelValue{label: f.label}
	if !f.everywhere {
		at.namespace = namespace
	}
	if f.label == "" {
		return at, true
	}
	value, ok := set[f.label]
	at.value = value
	return at, ok
}

// change notes that an object has come, gone, or has other labels.
func (x *labelIndex) change(number uint32, was, is bool, oldNamespace string, old labels.Set, namespace string, now labels.Set) {
	for f, lists := range x.families {
		before, wasIn := f.place(oldNamespace, old)
		after, isIn := f.place(namespace, now)
		wasIn, isIn = wasIn && was, isIn && is
		if wasIn && isIn && before == after {
			continue
		}
		if wasIn {
			lists[before].remove(number)
			if lists[before].len() == 0 {
				delete(lists, before)
			}
		}
		if isIn {
			addTo(lists, after, number)
		}
	}
}

func addTo(lists map[labelValue]*rowSet, at labelValue, number uint32) {
	list := lists[at]
	if list == nil {
		list = &rowSet{}
		lists[at] = list
	}
	list.add(number)
}

// lists returns the lists of a family, which it makes the first time.
func (x *labelIndex) lists(f family) map[labelValue]*rowSet {
	if lists, ok := x.families[f]; ok {
		return lists
	}
	lists := map[labelValue]*rowSet{}
	x.each(func(number uint32) {
		namespace, set := x.of(number)
		if at, ok := f.place(namespace, set); ok {
			addTo(lists, at, number)
		}
	})
	if x.families == nil {
		x.families = map[family]map[labelValue]*rowSet{}
	}
	x.families[f] = lists
	return lists
}

// selected appends the numbers of the objects of a namespace, "" for all, that a selector
// selects, in no order.
func (x *labelIndex) selected(dst []uint32, namespace string, selector labels.Selector) []uint32 {
	if selector == nil {
		return dst
	}
	requirements, selectable := selector.Requirements()
	if !selectable {
		return dst
	}
	var best []*rowSet
	found, fewest := false, 0
	for _, r := range requirements {
		values := valuesOf(r)
		if values == nil {
			continue
		}
		lists, n := []*rowSet(nil), 0
		family := x.lists(family{r.Key(), namespace == ""})
		for _, value := range values {
			if list := family[labelValue{namespace, r.Key(), value}]; list != nil {
				lists, n = append(lists, list), n+list.len()
			}
		}
		if !found || n < fewest {
			best, found, fewest = lists, true, n
		}
	}
	if !found {
		if list := x.lists(family{"", namespace == ""})[labelValue{namespace: namespace}]; list != nil {
			best = append(best, list)
		}
	}
	for _, list := range best {
		list.each(func(number uint32) {
			if _, set := x.of(number); selector.Matches(set) {
				dst = append(dst, number)
			}
		})
	}
	return dst
}
