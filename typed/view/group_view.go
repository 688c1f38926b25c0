package view

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/kubetyped/informer/index"
)

// Group is what a function makes of the objects that have a key in common, for each key
// that there is. They come in the order of their namespaces and names. The function returns
// false if nothing is made of them. It is called again for a key when one of its objects
// comes, changes or goes, and costs all objects of that key; [Reduce] costs the change.
func Group[T index.Object, K comparable, Out index.Object](
	in *View[T], keys Keys[K, T], group func(key K, objects iter.Seq[T]) (Out, bool), opts ...Option,
) *View[Out] {
	lookup := By(in, keys, checksOf[Out](opts)...)
	if group == nil {
		return failed[Out]("Group", errors.New("function is nil"), in.defined())
	}
	o, equal, err := gather[Out](opts)
	o.name = cmp.Or(o.name, describe("Group", in.defined()))
	d := define(o.name, []*definition{lookup.definition}, err)
	return newView(d, func(p *program) *table[Out] {
		g := &grouped[T, K, Out]{of: lookup.arrange(p), group: group, checks: o.checks}
		g.program, g.equal = p, equal
		g.before = func(a, b uint32) int { return compareInWords(g.of.keyOf[a], g.of.keyOf[b]) }
		g.unique()
		g.detail = func(at uint32, e *Explanation) {
			e.noteCost(g.costs[at])
			e.Fetched = []Fetched{{From: lookup.name, Key: fmt.Sprint(g.of.keyOf[at]), Objects: g.of.in.keysOf(g.of.groups[at].rows)}}
		}
		g.effort.view, g.effort.metrics = d.name, o.metrics
		return addView(p, g, &g.table, d.name, &g.effort)
	})
}

// Distinct is the first object of each key, in the order of namespaces and names.
func Distinct[T index.Object, K comparable](in *View[T], keys Keys[K, T], opts ...Option) *View[T] {
	opts = append([]Option{WithName(describe("Distinct", in.defined()))}, opts...)
	return Group(in, keys, func(_ K, objects iter.Seq[T]) (T, bool) {
		for obj := range objects {
			return obj, true
		}
		var none T
		return none, false
	}, opts...)
}

// compareInWords orders keys, which need have no order, as they are printed. Those that look
// the same are printed as Go writes them.
func compareInWords[K comparable](a, b K) int {
	if order := strings.Compare(fmt.Sprint(a), fmt.Sprint(b)); order != 0 || a == b {
		return order
	}
	return strings.Compare(fmt.Sprintf("%#v", a), fmt.Sprintf("%#v", b))
}

// grouped is the stage of Group: an object at most of each group, at its number.
type grouped[T index.Object, K comparable, Out index.Object] struct {
	output[Out]
	of     *arrangement[K, T]
	group  func(K, iter.Seq[T]) (Out, bool)
	checks bool
	costs  []cost         // by group
	faults faults[uint32] // by group
	effort effort
}

// step implements stage.
func (g *grouped[T, K, Out]) step() {
	began := time.Now()
	last := began
	g.costs = grown(g.costs, len(g.of.groups))
	for _, at := range g.of.touched {
		g.regroup(at)
		now := time.Now()
		g.costs[at] = cost{at: now.Unix(), took: now.Sub(last)}
		last = now
	}
	g.effort.add(len(g.of.touched), time.Since(began))
	g.resolve()
}

// regroup calls the function for a group.
func (g *grouped[T, K, Out]) regroup(at uint32) {
	var made Out
	var err error
	if rows := g.of.groups[at].rows; len(rows) > 0 {
		made, err = g.call(g.of.keyOf[at], rows)
		if err == nil && g.checks {
			var again Out
			if again, err = g.call(g.of.keyOf[at], rows); err == nil && !g.isSame(made, again) {
				err = errImpure
			}
		}
	}
	if err != nil {
		g.faults.fail(g.program, at, fault{key: index.Key{Name: fmt.Sprint(g.of.keyOf[at])}, err: fmt.Errorf("view %s: %w", g.name, err)})
		return
	}
	g.faults.repair(g.program, at)
	g.because = g.of.why.of(at)
	g.make(at, made)
}

func (g *grouped[T, K, Out]) call(key K, rows []uint32) (made Out, err error) {
	defer recoverTo(&err)
	return accepted(g.group(key, g.of.in.all(rows)))
}

// errImpure is what WithChecks finds.
var errImpure = errors.New("the function returns different results for the same")
