package view

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/deepcopy"
	"github.com/kubetyped/informer/typed/source"
)

// View is a collection of objects that is computed from others. It is a description, and
// a source.Source: the informer that is made of it computes it, with all views below it,
// and keeps the result.
//
//	endpoints := typed.NewInformer(view.JoinSelecting(…))
//
// Functions that make views return no error, so that they nest: Run, and so that of the
// informer, returns what is wrong, and so does Err.
type View[T index.Object] struct {
	*definition
	start   func(p *program) *table[T]
	running programs
}

func newView[T index.Object](d *definition, start func(p *program) *table[T]) *View[T] {
	return &View[T]{definition: d, start: func(p *program) *table[T] {
		return once(p, d, func() *table[T] { return start(p) })
	}}
}

// Name returns the name of the view, see [WithName].
func (v *View[T]) Name() string { return v.name }

// Err returns what is wrong with the view, or with one that it is made of.
func (v *View[T]) Err() error {
	if v == nil {
		return errors.New("view is nil")
	}
	return v.err
}

// Origin implements source.Located: the origin is in words, "view " and the view's name.
func (v *View[T]) Origin() source.Origin { return source.Origin{Selection: "view " + v.name} }

// DerivedFrom implements source.Derived: it returns the informers and sets that the view is made
// of in the end.
func (v *View[T]) DerivedFrom() (from []source.Derived) {
	if v == nil {
		return nil
	}
	for _, l := range v.leaves {
		from = append(from, l.derived())
	}
	return from
}

// Run implements source.Source. It may be called again, also while it runs: each informer
// computes the view for itself.
func (v *View[T]) Run(ctx context.Context, sink source.Sink[T]) error {
	if err := v.Err(); err != nil {
		return err
	}
	lend, err := lending[T](sink)
	if err != nil {
		return fmt.Errorf("view %s: %w", v.name, err)
	}
	p := newProgram(sink.Report, v.definition, func() []string { return sink.Decoding().Needs })
	v.running.add(p)
	defer v.running.remove(p)
	defer close(p.ended)
	out := v.start(p)
	p.order(v.leaves)
	if err = p.follow(); err != nil {
		return fmt.Errorf("view %s: %w", v.name, err)
	}
	defer p.unfollow()
	if p.diamonds.opened, err = findDiamond(v.leaves); err == nil {
		err = (&runner[T]{program: p, out: out, sink: sink, lend: lend}).run(ctx)
	}
	if err != nil {
		return fmt.Errorf("view %s: %w", v.name, err)
	}
	return nil
}

// lending returns a function that returns an object as it is passed on to a sink: the objects
// are those of the view's inputs, or have parts of them, so that who modifies them gets
// copies.
func lending[T index.Object](sink source.Sink[T]) (func(T) T, error) {
	if !sink.Decoding().Modifies {
		return func(obj T) T { return obj }, nil
	}
	copied, err := deepcopy.Of[T]()
	if err != nil {
		return nil, fmt.Errorf("a transform would modify objects of the inputs, which cannot be copied: %w", err)
	}
	return copied, nil
}

// runner passes what a program makes to a sink.
type runner[T index.Object] struct {
	program *program
	out     *table[T]
	sink    source.Sink[T]
	lend    func(T) T // see lending
	listed  bool      // the sink has received a list
	begun   bool      // and has taken it up
	passed  []string  // the versions of the inputs that the sink has
	trouble string    // that was reported last
	waited  bool      // it was that inputs had not synced, which is no failure
}

// run returns an error if the inputs turn out to be no longer those that a view can have.
func (r *runner[T]) run(ctx context.Context) error {
	for {
		select {
		case <-r.program.wake:
		case f := <-r.program.asked:
			f()
			continue
		case <-ctx.Done():
			return nil
		}
		synced, trouble := r.program.look()
		if synced {
			versions := r.program.take()
			if err := r.program.diamonds.check(); err != nil {
				return err // before readers see a part of it
			}
			r.program.step()
			r.pass(versions)
			r.program.settle()
		}
		r.report(trouble) // last: the first list says that all is well
	}
}

// report reports what keeps the view from reflecting its inputs, if that has changed.
func (r *runner[T]) report(trouble error) {
	words := ""
	if trouble != nil {
		words = trouble.Error()
	}
	if words == r.trouble {
		return
	}
	waited := r.waited
	r.trouble, r.waited = words, !r.listed
	if trouble != nil || !waited {
		r.sink.Report(trouble)
	}
}

// pass passes on the changes of a step. Until there is an object that can be used, or none that
// cannot, the sink takes up no list, and receives all objects after each step.
func (r *runner[T]) pass(versions []string) {
	version := joinVersions(versions)
	done := func() { r.program.progress.reach(versions) }
	if !r.begun {
		r.listed, r.begun = true, r.out.count > 0 || r.program.failing == r.program.twice
		r.sink.Replace(source.List{Items: r.first()}, version)
		if r.begun {
			r.sink.Step(nil, version, done)
		}
	} else if changes := r.changes(); len(changes) > 0 || !slices.Equal(versions, r.passed) {
		r.sink.Step(changes, version, done)
	}
	r.passed = versions
}

// first returns the list of all objects. If there are none, the list says whether that is on
// purpose, or because objects were rejected.
func (r *runner[T]) first() []source.Staged {
	all := make([]source.Staged, 0, r.out.count)
	for _, obj := range r.out.objects {
		if !isNone(obj) {
			all = append(all, r.sink.Stage(r.lend(obj), ""))
		}
	}
	if len(all) > 0 {
		return all
	}
	if r.begun {
		return []source.Staged{source.LeaveOut()}
	}
	for key := range r.program.faults {
		all = append(all, source.Reject(key))
	}
	return all
}

// changes returns the changes of the step, deletions first. It leaves out the deletions of
// objects whose key another row has now: these are updates.
func (r *runner[T]) changes() []index.Change[T] {
	var none T
	var left []index.Change[T]
	come := make([]index.Change[T], 0, len(r.out.changes))
	for _, c := range r.out.changes {
		if !isNone(c.now) {
			come = append(come, index.Change[T]{Object: r.lend(c.now), Reason: reasonFor(c)})
		}
		if !isNone(c.old) && (isNone(c.now) || compareKeys(c.old, c.now) != 0) {
			c.now = none
			left = append(left, index.Change[T]{Delete: true, Object: r.lend(c.old), Reason: reasonFor(c)})
		}
	}
	switch {
	case len(left) == 0:
		return come
	case len(come) == 0:
		return left
	}
	keys := make(sets.Set[index.Key], len(come))
	for _, c := range come {
		keys.Insert(index.KeyOf(c.Object))
	}
	left = slices.DeleteFunc(left, func(c index.Change[T]) bool { return keys.Has(index.KeyOf(c.Object)) })
	return append(left, come...)
}
