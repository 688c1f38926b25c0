package view

import (
	"cmp"
	"errors"
	"iter"
	"maps"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
)

// LabelLookup finds objects of a view by selectors, for functions of [Compute].
type LabelLookup[T index.Labeled] struct {
	*definition
	in *View[T]
}

// ByLabels is a lookup by labels. The first selector that requires a value of a label has
// all objects looked at, once. Of the options, it takes a name.
func ByLabels[T index.Labeled](in *View[T], opts ...Option) *LabelLookup[T] {
	inputs := []*definition{in.defined()}
	o, _, err := gather[T](opts)
	err = errors.Join(err, in.defined().needLabels())
	return &LabelLookup[T]{definition: define(cmp.Or(o.name, describe("ByLabels", inputs...)), inputs, err), in: in}
}

// Select returns the objects of a namespace, "" for all, that a selector selects, in the
// order of their namespaces and names. A nil selector selects nothing.
func (l *LabelLookup[T]) Select(f *Fetcher, namespace string, selector labels.Selector) iter.Seq[T] {
	d := f.use(l.definition).(*selecting[T])
	return d.in.all(d.rows(namespace, selector))
}

func (l *LabelLookup[T]) depend(p *program) dependents {
	labeled := once(p, l.definition, func() *labeled[T] {
		s := newLabeled(l.in.start(p))
		p.add(s)
		return s
	})
	return &selecting[T]{labeled: labeled}
}

// labeled is the stage of a LabelLookup.
type labeled[T index.Labeled] struct {
	in     *table[T]
	labels labelIndex
}

func newLabeled[T index.Labeled](in *table[T]) *labeled[T] {
	return &labeled[T]{in: in, labels: labelIndex{
		each: func(f func(uint32)) {
			for row, obj := range in.objects {
				if !isNone(obj) {
					f(uint32(row))
				}
			}
		},
		of: func(row uint32) (string, labels.Set) {
			return in.objects[row].GetNamespace(), in.objects[row].GetLabels()
		},
		compare: in.compare,
	}}
}

// step implements stage.
func (s *labeled[T]) step() {
	if len(s.labels.families) == 0 {
		return
	}
	for i := range s.in.changes {
		c := &s.in.changes[i]
		s.labels.change(c.row, labelsOf(c.old), labelsOf(c.now), isRenamed(c))
	}
	s.labels.tidy()
}

// labelsOf returns the namespace and labels of an object, if it is one.
func labelsOf[T index.Labeled](obj T) labeledState {
	if isNone(obj) {
		return labeledState{}
	}
	return labeledState{true, obj.GetNamespace(), obj.GetLabels()}
}

// like reports whether the same selectors match two objects that are there.
func (s labeledState) like(other labeledState) bool {
	return s.namespace == other.namespace && maps.Equal(s.set, other.set)
}

// settle implements stage.
func (s *labeled[T]) settle() {}

// selecting is the dependents of a LabelLookup: the selectors that each row has asked for.
type selecting[T index.Labeled] struct {
	*labeled[T]
	asked numbered[asked]
	index selectorIndex
}

// asked is a selector that was asked for.
type asked struct {
	namespace string
	selector  labels.Selector
}

func (d *selecting[T]) rows(namespace string, selector labels.Selector) []uint32 {
	d.asked.note(asked{namespace, selector})
	return d.labels.inOrder(namespace, selector)
}

func (d *selecting[T]) affected(mark func(row uint32, reason index.Reason)) {
	if d.asked.len() == 0 {
		return
	}
	var reason index.Reason
	markOwner := func(number uint32) { mark(d.asked.owner(number), reason) }
	for i := range d.in.changes {
		c := &d.in.changes[i]
		reason = c.reason
		old, now := labelsOf(c.old), labelsOf(c.now)
		if old.there {
			d.index.matching(old.namespace, old.set, markOwner)
		}
		if now.there && !(old.there && now.like(old)) {
			d.index.matching(now.namespace, now.set, markOwner)
		}
	}
}

func (d *selecting[T]) commit(row uint32) {
	d.asked.commit(row, nil, func(number uint32, a asked) { d.index.put(number, a.namespace, a.selector) },
		func(number uint32) { d.index.put(number, "", nil) })
}

func (d *selecting[T]) explain(row uint32, of *definition) (fetched []Fetched) {
	d.asked.each(row, func(a asked) {
		found := d.labels.inOrder(a.namespace, a.selector)
		fetched = append(fetched, Fetched{From: of.name, Key: inWords(a.namespace, selectorInWords(a.selector)), Objects: d.in.keysOf(found)})
	})
	return fetched
}

func selectorInWords(s labels.Selector) string {
	if s == nil {
		return "nothing"
	}
	if s.String() == "" {
		return "everything"
	}
	return s.String()
}

func inWords(namespace, what string) string {
	if namespace == "" {
		return what
	}
	return what + " in " + namespace
}
