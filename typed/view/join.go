package view

import (
	"errors"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
)

// JoinOn is what a function makes of each object of the left view and of those of the
// right one that have a key in common with it: one, many, or none. They come in the order
// of their namespaces and names, each once. The function returns false if nothing is made
// of the object, for an inner join when there are none.
//
//	view.JoinOn(nodes, pods, view.One(nameOf), view.One(nodeNameOf),
//		func(node *corev1.Node, pods iter.Seq[*corev1.Pod]) (*Load, bool) { … })
//
// A change of a right object costs those of the left that have its keys, and no look at
// others. See [Map] for what functions may do.
func JoinOn[L, R index.Object, K comparable, Out index.Object](
	left *View[L], right *View[R], leftKeys Keys[K, L], rightKeys Keys[K, R], join func(L, iter.Seq[R]) (Out, bool), opts ...Option,
) *View[Out] {
	checks := checksOf[Out](opts)
	lookup := By(right, rightKeys, checks...)
	if len(checks) > 0 {
		leftKeys = leftKeys.checked()
	}
	switch {
	case join == nil:
		return failed[Out]("JoinOn", errNilJoin, left.defined(), right.defined())
	case !leftKeys.valid():
		return failed[Out]("JoinOn", errors.New("left key function is nil"), left.defined(), right.defined())
	}
	return newJoin("JoinOn", left, right, lookup, func(f *Fetcher, obj L) iter.Seq[R] {
		of := f.use(lookup.definition).(*keyed[K, R])
		var rows []uint32
		n := 0
		add := func(found []uint32) {
			if n == 0 {
				rows = found
			} else {
				rows = append(slices.Clip(rows), found...)
			}
			n++
		}
		if f.again {
			of.groupsOf[f.row].each(func(at uint32) { add(of.by.groups[at].rows) })
		} else {
			leftKeys.all(obj, func(key K) { add(of.rows(key)) })
		}
		if n > 1 {
			rows = of.by.in.inOrder(rows)
		}
		return of.by.in.all(rows)
	}, join, opts)
}

// JoinSelecting is what a function makes of each object of the left view and of those of
// the right one that it selects by their labels, as a Service does with Pods. A namespaced
// object selects in its namespace, one without a namespace everywhere. A nil selector
// selects nothing, one without requirements everything. What else JoinOn says holds here.
//
// The first selector that requires a value of a label has all objects looked at, once.
func JoinSelecting[L index.Object, R index.Labeled, Out index.Object](
	left *View[L], right *View[R], selector func(L) labels.Selector, join func(L, iter.Seq[R]) (Out, bool), opts ...Option,
) *View[Out] {
	switch {
	case join == nil:
		return failed[Out]("JoinSelecting", errNilJoin, left.defined(), right.defined())
	case selector == nil:
		return failed[Out]("JoinSelecting", errNilSelector, left.defined(), right.defined())
	}
	lookup := ByLabels(right)
	if len(checksOf[Out](opts)) > 0 {
		selector = checkedSelector(selector)
	}
	return newJoin("JoinSelecting", left, right, lookup, func(f *Fetcher, obj L) iter.Seq[R] {
		if f.again {
			of := f.use(lookup.definition).(*selecting[R])
			a := of.asked.first(f.row)
			return of.in.all(of.labels.inOrder(a.namespace, a.selector))
		}
		return lookup.Select(f, obj.GetNamespace(), selector(obj))
	}, join, opts)
}

// JoinSelectedBy is what a function makes of each object of the left view and of those of
// the right one that select it by its labels, as the NetworkPolicies of a Pod do. Otherwise
// it is as JoinSelecting.
func JoinSelectedBy[L index.Labeled, R, Out index.Object](
	left *View[L], right *View[R], selector func(R) labels.Selector, join func(L, iter.Seq[R]) (Out, bool), opts ...Option,
) *View[Out] {
	switch {
	case join == nil:
		return failed[Out]("JoinSelectedBy", errNilJoin, left.defined(), right.defined())
	case selector == nil:
		return failed[Out]("JoinSelectedBy", errNilSelector, left.defined(), right.defined())
	}
	if err := left.defined().needLabels(); err != nil {
		return failed[Out]("JoinSelectedBy", err, left.defined(), right.defined())
	}
	lookup := BySelector(right, selector, checksOf[Out](opts)...)
	return newJoin("JoinSelectedBy", left, right, lookup, func(f *Fetcher, obj L) iter.Seq[R] {
		if f.again {
			of := f.use(lookup.definition).(*selected[R])
			a := of.asked.first(f.row)
			return of.in.all(of.find(a.namespace, a.set))
		}
		return lookup.Match(f, obj.GetNamespace(), obj.GetLabels())
	}, join, opts)
}

var (
	errNilJoin     = errors.New("join function is nil")
	errNilSelector = errors.New("selector function is nil")
)

func newJoin[L, R, Out index.Object](
	kind string, left *View[L], right *View[R], lookup AnyLookup, fetch func(*Fetcher, L) iter.Seq[R], join func(L, iter.Seq[R]) (Out, bool), opts []Option,
) *View[Out] {
	name := WithName(describe(kind, left.defined(), right.defined()))
	return newCompute(kind, left, func(f *Fetcher, obj L) (Out, bool) { return join(obj, fetch(f, obj)) }, []AnyLookup{lookup},
		append([]Option{name, withFixedFetches}, opts...))
}

// inOrder sorts rows by the keys of their objects, and has each once.
func (t *table[T]) inOrder(rows []uint32) []uint32 {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, t.compare)
	return slices.Compact(rows)
}

// checksOf returns WithChecks if that is among options.
func checksOf[Out index.Object](opts []Option) []Option {
	if o, _, err := gather[Out](opts); err == nil && o.checks {
		return []Option{WithChecks()}
	}
	return nil
}
