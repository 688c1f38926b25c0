package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/internal/goroutine"
)

// Map is what a function makes of each object of a view. A result that is the zero value
// of B, nil if it is a pointer, is none: nothing is made of that object.
//
// As all functions that are given to views, it is pure: its result depends only on its
// arguments, and it does not modify them. An object for which it panics is reported as
// rejected, see source.RejectedError; what was made of an earlier state of it stays.
func Map[A, B index.Object](in *View[A], project func(A) B, opts ...Option) *View[B] {
	if project == nil {
		return failed[B]("Map", errors.New("function is nil"), in.defined())
	}
	return passOn(in, newCompute("Map", in, func(_ *Fetcher, obj A) (B, bool) { return project(obj), true }, nil, opts))
}

// Filter is the objects of a view for which a function returns true.
func Filter[T index.Object](in *View[T], keep func(T) bool, opts ...Option) *View[T] {
	if keep == nil {
		return failed[T]("Filter", errors.New("function is nil"), in.defined())
	}
	opts = append(opts[:len(opts):len(opts)], withoutComparison)
	return passOn(in, newCompute("Filter", in, func(_ *Fetcher, obj T) (T, bool) { return obj, keep(obj) }, nil, opts))
}

// Compute returns a view of the results of a function for each object of a view, which may
// fetch from lookups. The function is called again when its object changes, or a fetched
// result: when an object under the same keys appears, changes or disappears. It returns false,
// or the zero value of B, if nothing is made of the object.
//
// All lookups that the function uses are named when the view is made. See [Map] for what
// functions may do, and JoinOn, JoinSelecting and JoinSelectedBy for what most need.
func Compute[A, B index.Object](in *View[A], compute func(f *Fetcher, obj A) (B, bool), lookups []AnyLookup, opts ...Option) *View[B] {
	if compute == nil {
		return failed[B]("Compute", errors.New("function is nil"), in.defined())
	}
	return newCompute("Compute", in, compute, lookups, opts)
}

// failed is a view that cannot be made.
func failed[T index.Object](kind string, err error, inputs ...*definition) *View[T] {
	return newView[T](define(describe(kind, inputs...), inputs, err), nil)
}

func newCompute[A, B index.Object](kind string, in *View[A], compute func(*Fetcher, A) (B, bool), lookups []AnyLookup, opts []Option) *View[B] {
	inputs := []*definition{in.defined()}
	var errs []error
	for _, l := range lookups {
		if argument.IsNil(l) || l.defined() == nil {
			errs = append(errs, errors.New("lookup is nil"))
			continue
		}
		inputs = append(inputs, l.defined())
	}
	o, equal, err := gather[B](opts)
	d := define(cmp.Or(o.name, describe(kind, inputs...)), inputs, append(errs, err)...)
	return newView(d, func(p *program) *table[B] {
		c := &computed[A, B]{left: in.start(p), compute: compute, checks: o.checks, fixed: o.fixed}
		c.program, c.equal = p, equal
		if o.uncompared && o.equal == nil {
			c.equal = nil
		}
		c.fetcher.name = d.name
		for _, l := range lookups {
			if c.fetcher.of(l.defined()) == nil {
				c.fetcher.lookups = append(c.fetcher.lookups, dependency{l.defined(), l.depend(p)})
			}
		}
		c.before = func(a, b uint32) int { return c.left.compare(a, b) }
		c.detail = c.explain
		c.effort.view, c.effort.metrics = d.name, o.metrics
		return addView(p, c, &c.table, d.name, &c.effort)
	})
}

// computed is the stage of Map, Filter, Compute and the joins: an object at most of each
// row of left.
type computed[A, B index.Object] struct {
	output[B]
	left    *table[A]
	compute func(*Fetcher, A) (B, bool)
	fetcher Fetcher
	checks  bool
	fixed   bool // what is fetched depends on the object alone, as joins do it

	costs  []cost         // by row
	dirty  []uint32       // rows to compute in this step
	marked []mark         // by row
	why    causes[uint32] // by row: why it is to be computed
	faults faults[uint32] // by row; of these, not all that they depend on may be known
	effort effort
}

// mark is the reason why a row is to be computed.
type mark uint8

const (
	unmarked mark = iota
	fetched       // what it has fetched has changed
	changed       // its object has changed
)

// step implements stage.
func (c *computed[A, B]) step() {
	began := time.Now()
	c.costs = grown(c.costs, len(c.left.objects))
	c.marked = grown(c.marked, len(c.left.objects))
	for i := range c.left.changes {
		change := &c.left.changes[i]
		if isNone(change.now) {
			c.because = change.reason
			c.drop(change.row)
			continue
		}
		c.mark(change.row, change.reason)
		c.marked[change.row] = changed
		if isRenamed(change) {
			c.because = change.reason
			c.reorder(change.row)
		}
	}
	for _, l := range c.fetcher.lookups {
		l.affected(c.mark)
	}
	last := began
	for _, row := range c.dirty {
		c.fetcher.row, c.fetcher.again = row, c.fixed && c.marked[row] == fetched && !c.faults.has(row)
		c.marked[row] = unmarked
		c.because = c.why.of(row)
		if obj := c.left.objects[row]; !isNone(obj) {
			c.computeRow(row, obj)
			now := time.Now()
			c.costs[row] = cost{at: now.Unix(), took: now.Sub(last)}
			last = now
		}
	}
	c.effort.add(len(c.dirty), time.Since(began))
	c.dirty = kept(c.dirty)
	c.why.forget()
	c.resolve()
}

func (c *computed[A, B]) mark(row uint32, reason index.Reason) {
	c.why.note(row, reason)
	if c.marked[row] == unmarked {
		c.marked[row] = fetched
		c.dirty = append(c.dirty, row)
	}
}

// drop takes out what was made of an object that has gone.
func (c *computed[A, B]) drop(row uint32) {
	var none B
	for _, l := range c.fetcher.lookups {
		l.commit(row) // as nothing was fetched since
	}
	c.make(row, none)
	c.faults.repair(c.program, row)
}

// computeRow calls the function for an object.
func (c *computed[A, B]) computeRow(row uint32, obj A) {
	made, err := c.call(obj)
	if err == nil && c.checks {
		var again B
		if again, err = c.call(obj); err == nil && !c.isSame(made, again) {
			err = errImpure
		}
	}
	if !c.fetcher.again {
		for _, l := range c.fetcher.lookups {
			l.commit(row)
		}
	}
	if err != nil {
		c.faults.fail(c.program, row, fault{key: index.KeyOf(obj), err: fmt.Errorf("view %s: %w", c.name, err)})
		if had := c.has(row); c.names == nil && !isNone(had) && !sameKey(obj, had) {
			c.unique() // what stays has the name that the object had before
		}
		return
	}
	c.faults.repair(c.program, row)
	if c.names == nil && !isNone(made) && !sameKey(obj, made) {
		c.unique()
	}
	c.make(row, made)
}

// call calls the function once.
func (c *computed[A, B]) call(obj A) (made B, err error) {
	defer recoverTo(&err)
	c.fetcher.active = true
	defer func() { c.fetcher.active = false }()
	return accepted(c.compute(&c.fetcher, obj))
}

// accepted returns what a function has made, the zero T if it has reported false, and an error
// if that has no name.
func accepted[T index.Object](made T, ok bool) (T, error) {
	var none T
	if !ok {
		return none, nil
	}
	return made, named(made)
}

// named returns an error if an object has no name. The object's methods may panic.
func named[T index.Object](obj T) error {
	if !isNone(obj) && index.KeyOf(obj).Name == "" {
		return errors.New("the object that was made has no name")
	}
	return nil
}

// sameKey reports whether two objects have one key.
func sameKey[A, B index.Object](a A, b B) bool {
	return a.GetName() == b.GetName() && a.GetNamespace() == b.GetNamespace()
}

// cost is when an object was computed, and how long it took.
type cost struct {
	at   int64 // Unix time in seconds
	took time.Duration
}

// effort is what a stage has done.
type effort struct {
	metrics Metrics // may be nil
	view    string
	calls   int
	time    time.Duration
}

func (e *effort) add(calls int, time time.Duration) {
	e.calls += calls
	e.time += time
	if e.metrics != nil && calls > 0 {
		e.report(calls, time)
	}
}

// report reports calls to the metrics. If they panic with crashing disabled, that is reported,
// and the step continues.
func (e *effort) report(calls int, time time.Duration) {
	goroutine.Call(context.Background(), func() { e.metrics.Computed(e.view, calls, time) })
}

// explain adds what the object of a row was made of.
func (c *computed[A, B]) explain(row uint32, e *Explanation) {
	e.noteCost(c.costs[row])
	e.From = explainFrom(e.From, c.left, row)
	for _, l := range c.fetcher.lookups {
		e.Fetched = append(e.Fetched, l.explain(row, l.definition)...)
	}
}
