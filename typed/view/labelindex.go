package view

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
)

// labelIndex finds the objects that a selector selects, of many that are numbered. It has
// lists of the objects by the values of those labels that were asked for.
type labelIndex struct {
	// each calls f with the number of every object.
	each func(f func(number uint32))
	// of returns the namespace and the labels of an object.
	of func(number uint32) (namespace string, set labels.Set)
	// compare is the order of the lists; nil: they are in no order.
	compare func(a, b uint32) int

	families map[family]map[labelValue]*group
	touched  []*group            // that are not in order
	gone     map[*group][]uint32 // the objects that lists have lost and still have
	best     []*group            // see candidates
	lists    []*group            // see candidates
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

// labeledState is the state of an object that decides in which lists it is.
type labeledState struct {
	there     bool
	namespace string
	set       labels.Set
}

// change notes that an object has come, gone, or has other labels; if it was renamed, it
// may be in another place of a list. Calls are to be ended by tidy.
func (x *labelIndex) change(number uint32, old, now labeledState, renamed bool) {
	for f, lists := range x.families {
		before, wasIn := f.place(old.namespace, old.set)
		after, isIn := f.place(now.namespace, now.set)
		wasIn, isIn = wasIn && old.there, isIn && now.there
		if wasIn && isIn && before == after {
			if renamed {
				lists[before].shuffle = true
				x.touch(lists[before])
			}
			continue
		}
		if wasIn {
			x.removeFrom(lists, before, number)
		}
		if isIn {
			x.addTo(lists, after, number)
		}
	}
}

func (x *labelIndex) addTo(lists map[labelValue]*group, at labelValue, number uint32) {
	list := lists[at]
	if list == nil {
		list = &group{}
		lists[at] = list
	}
	if gone, ok := x.gone[list]; ok { // the number may be one of them
		x.settle(list, gone)
	}
	list.add(number)
	x.touch(list)
}

// removeFrom removes an object from a list, by the next tidy.
func (x *labelIndex) removeFrom(lists map[labelValue]*group, at labelValue, number uint32) {
	list := lists[at]
	gone := append(x.gone[list], number)
	if len(gone) == len(list.rows) {
		list.rows, list.sorted = nil, 0
		delete(lists, at)
		delete(x.gone, list)
		return
	}
	if x.gone == nil {
		x.gone = map[*group][]uint32{}
	}
	x.gone[list] = gone
}

// maxRemoved is the number of objects up to which each is searched for in a list that has lost it.
const maxRemoved = 4

// settle takes the objects out of a list that it has lost.
func (x *labelIndex) settle(list *group, gone []uint32) {
	delete(x.gone, list)
	if len(gone) <= maxRemoved {
		for _, number := range gone {
			list.remove(number)
		}
		return
	}
	lost := sets.New(gone...)
	list.keep(func(number uint32) bool { return !lost.Has(number) })
}

func (x *labelIndex) touch(list *group) {
	if !list.touched && x.compare != nil {
		list.touched = true
		x.touched = append(x.touched, list)
	}
}

// tidy brings lists into order.
func (x *labelIndex) tidy() {
	for list, gone := range x.gone {
		x.settle(list, gone)
	}
	for _, list := range x.touched {
		list.order(x.compare)
		list.touched = false
	}
	clear(x.touched)
	x.touched = kept(x.touched)
}

// listsOf returns the lists of a family, which it makes the first time.
func (x *labelIndex) listsOf(f family) map[labelValue]*group {
	if lists, ok := x.families[f]; ok {
		return lists
	}
	lists := map[labelValue]*group{}
	x.each(func(number uint32) {
		namespace, set := x.of(number)
		if at, ok := f.place(namespace, set); ok {
			x.addTo(lists, at, number)
		}
	})
	x.tidy()
	if x.families == nil {
		x.families = map[family]map[labelValue]*group{}
	}
	x.families[f] = lists
	return lists
}

// candidates returns lists, the shortest there are, that have all objects of a namespace,
// "" for all, that a selector selects, and reports whether they have no others. They are
// valid until the next call.
func (x *labelIndex) candidates(namespace string, selector labels.Selector) (found []*group, exact bool) {
	if selector == nil {
		return nil, true
	}
	requirements, selectable := selector.Requirements()
	if !selectable {
		return nil, true
	}
	any, fewest := false, 0
	for i := range requirements {
		r := &requirements[i]
		values := valuesOf(*r)
		if values == nil {
			continue
		}
		n := 0
		x.lists = x.lists[:0]
		family := x.listsOf(family{r.Key(), namespace == ""})
		for _, value := range values {
			if list := family[labelValue{namespace, r.Key(), value}]; list != nil {
				x.lists, n = append(x.lists, list), n+len(list.rows)
			}
		}
		if !any || n < fewest {
			any, fewest = true, n
			x.best, x.lists = x.lists, x.best
		}
	}
	if any {
		return x.best, len(requirements) == 1
	}
	x.best = x.best[:0]
	if list := x.listsOf(family{"", namespace == ""})[labelValue{namespace: namespace}]; list != nil {
		x.best = append(x.best, list)
	}
	return x.best, len(requirements) == 0
}

// selected appends the numbers of the objects of a namespace, "" for all, that a selector
// selects, in no order.
func (x *labelIndex) selected(dst []uint32, namespace string, selector labels.Selector) []uint32 {
	lists, exact := x.candidates(namespace, selector)
	return x.filter(dst, lists, exact, selector)
}

// inOrder is selected in the order of the lists. The result is not the caller's.
func (x *labelIndex) inOrder(namespace string, selector labels.Selector) []uint32 {
	lists, exact := x.candidates(namespace, selector)
	if len(lists) == 1 && exact {
		return lists[0].rows
	}
	found := x.filter(nil, lists, exact, selector)
	if len(lists) > 1 {
		slices.SortFunc(found, x.compare)
	}
	return found
}

func (x *labelIndex) filter(dst []uint32, lists []*group, exact bool, selector labels.Selector) []uint32 {
	for _, list := range lists {
		if exact {
			dst = append(dst, list.rows...)
			continue
		}
		for _, number := range list.rows {
			if _, set := x.of(number); selector.Matches(set) {
				dst = append(dst, number)
			}
		}
	}
	return dst
}
