package view

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
)

// SelectorLookup finds objects of a view that have a selector by the labels that it
// matches, for functions of [Compute].
type SelectorLookup[T index.Object] struct {
	*definition
	in       *View[T]
	selector func(T) labels.Selector
}

// BySelector is a lookup of objects that select others. A namespaced one selects in its
// namespace, one without a namespace everywhere. A nil selector selects nothing. Of the
// options, it takes a name and checks.
func BySelector[T index.Object](in *View[T], selector func(T) labels.Selector, opts ...Option) *SelectorLookup[T] {
	inputs := []*definition{in.defined()}
	o, _, err := gather[T](opts)
	if selector == nil {
		err = errors.Join(err, errNilSelector)
	}
	if o.checks {
		selector = checkedSelector(selector)
	}
	return &SelectorLookup[T]{definition: define(cmp.Or(o.name, describe("BySelector", inputs...)), inputs, err), in: in, selector: selector}
}

// checkedSelector returns a function that calls another one twice, and panics if it
// returns different selectors.
func checkedSelector[T index.Object](selector func(T) labels.Selector) func(T) labels.Selector {
	if selector == nil {
		return nil
	}
	return func(obj T) labels.Selector {
		made := selector(obj)
		if selectorInWords(made) != selectorInWords(selector(obj)) {
			panic(errors.New("the selector function returns different selectors for the same object"))
		}
		return made
	}
}

// Match returns the objects that select what has the given labels in a namespace, "" if it
// has none, in the order of their namespaces and names. The map must not be modified.
func (l *SelectorLookup[T]) Match(f *Fetcher, namespace string, set map[string]string) iter.Seq[T] {
	d := f.use(l.definition).(*selected[T])
	return d.in.all(d.rows(namespace, set))
}

func (l *SelectorLookup[T]) depend(p *program) dependents {
	selectors := once(p, l.definition, func() *selectors[T] {
		s := &selectors[T]{name: l.name, program: p, in: l.in.start(p), selector: l.selector}
		p.add(s)
		return s
	})
	d := &selected[T]{selectors: selectors}
	d.labels.each = func(f func(uint32)) {
		for number := range d.asked.what {
			if d.asked.what[number].there {
				f(uint32(number))
			}
		}
	}
	d.labels.of = func(number uint32) (string, labels.Set) {
		a := &d.asked.what[number]
		return a.namespace, a.set
	}
	return d
}

// selectors is the stage of a SelectorLookup.
type selectors[T index.Object] struct {
	name     string
	program  *program
	in       *table[T]
	selector func(T) labels.Selector
	index    selectorIndex

	faults  faults[uint32]    // by row of in
	changed []changedSelector // in this step: selectors as they were, and as they are now
}

// changedSelector is a selector that was changed, or what it is now.
type changedSelector struct {
	selectorEntry
	reason index.Reason
}

// step implements stage.
func (s *selectors[T]) step() {
	for i := range s.in.changes {
		c := &s.in.changes[i]
		if int(c.row) < len(s.index.entries) {
			if before := s.index.entries[c.row]; before.selector != nil {
				s.changed = append(s.changed, changedSelector{before, c.reason})
			}
		}
		if isNone(c.now) {
			s.index.put(c.row, "", nil)
			s.faults.repair(s.program, c.row)
			continue
		}
		selector, err := s.selectorOf(c.now)
		if err != nil {
			s.faults.fail(s.program, c.row, fault{key: index.KeyOf(c.now), err: fmt.Errorf("view %s: %w", s.name, err)})
			continue
		}
		s.faults.repair(s.program, c.row)
		s.index.put(c.row, c.now.GetNamespace(), selector)
		if now := s.index.entries[c.row]; now.selector != nil {
			s.changed = append(s.changed, changedSelector{now, c.reason})
		}
	}
}

func (s *selectors[T]) selectorOf(obj T) (selector labels.Selector, err error) {
	defer recoverTo(&err)
	return s.selector(obj), nil
}

// settle implements stage.
func (s *selectors[T]) settle() {
	clear(s.changed)
	s.changed = kept(s.changed)
}

// selected is the dependents of a SelectorLookup: the labels that each row has asked for.
type selected[T index.Object] struct {
	*selectors[T]
	asked  numbered[labeledState]
	labels labelIndex
}

func (d *selected[T]) rows(namespace string, set labels.Set) []uint32 {
	d.asked.note(labeledState{true, namespace, set})
	return d.find(namespace, set)
}

// find returns the rows whose selectors match, in order.
func (d *selected[T]) find(namespace string, set labels.Set) (rows []uint32) {
	d.index.matching(namespace, set, func(row uint32) { rows = append(rows, row) })
	slices.SortFunc(rows, d.in.compare)
	return rows
}

func (d *selected[T]) affected(mark func(row uint32, reason index.Reason)) {
	if d.asked.len() == 0 {
		return
	}
	d.labels.tidy()
	var numbers []uint32
	for _, e := range d.changed {
		numbers = d.labels.selected(numbers[:0], e.namespace, e.selector)
		for _, number := range numbers {
			mark(d.asked.owner(number), e.reason)
		}
	}
}

func (d *selected[T]) commit(row uint32) {
	d.asked.commit(row, labeledState.like, func(number uint32, a labeledState) {
		d.labels.change(number, labeledState{}, a, false)
	}, func(number uint32) {
		d.labels.change(number, d.asked.what[number], labeledState{}, false)
	})
}

func (d *selected[T]) explain(row uint32, of *definition) (fetched []Fetched) {
	d.asked.each(row, func(a labeledState) {
		found := d.find(a.namespace, a.set)
		fetched = append(fetched, Fetched{From: of.name, Key: inWords(a.namespace, a.set.String()), Objects: d.in.keysOf(found)})
	})
	return fetched
}
