package view

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/monitor"
	"github.com/kubetyped/informer/typed/source"
)

// program is a running view: the stages of all views that it is made of, each once. Its fields
// belong to the goroutine of Run, unless they say otherwise.
type program struct {
	stages []stage             // inputs before those that are made of them
	made   map[*definition]any // what stages of views and lookups have made, by their definitions
	inputs []input
	wake   chan struct{} // has room for one: an input has news
	asked  chan func()   // to be called between two steps
	ended  chan struct{} // closed when it does not run any more

	report      func(error)            // to the sink
	passed      []*origin              // whose objects are passed on to it
	readOfThose func() []string        // the fields of them that are read then
	faults      map[index.Key][]*fault // of all stages, by key; the last one was reported last
	failing     int                    // how many faults there are
	twice       int                    // how many of them are names of several objects
	progress    progress
	reports     []func() StageStatus // of the views that it is made of
	diamonds    diamonds             // of the inputs
}

// stage is one view or lookup in a program.
type stage interface {
	// step takes up the changes of the tables that it is made of, in its own.
	step()
	// settle forgets the changes of the step.
	settle()
}

// input is a leaf in a program.
type input interface {
	leaf
	leafOf() leaf
	// begin follows the leaf.
	begin(wake func()) error
	// end does so no longer.
	end()
	// state returns the present state of the leaf.
	state() inputState
	// take takes the changes since its last call, for the next step, and returns the version
	// that they lead to.
	take() (version string)
}

// inputState is what is known of an input at one moment.
type inputState struct {
	synced bool
	err    error // what its list and watch fail with, or why it has ended
}

func newProgram(report func(error), of *definition, read func() []string) *program {
	return &program{
		made: map[*definition]any{}, wake: make(chan struct{}, 1), asked: make(chan func()), ended: make(chan struct{}),
		report: report, passed: of.origins, readOfThose: read, diamonds: diamonds{leaves: of.leaves}, faults: map[index.Key][]*fault{},
	}
}

// once returns what a definition has made in a program, which make makes the first time.
func once[S any](p *program, d *definition, make func() S) S {
	if made, ok := p.made[d]; ok {
		return made.(S)
	}
	made := make()
	p.made[d] = made
	return made
}

// addView adds the stage of a view, which makes a table.
func addView[T index.Object](p *program, s stage, made *table[T], name string, spent *effort) *table[T] {
	made.name = name
	p.add(s)
	p.reports = append(p.reports, func() StageStatus {
		status := StageStatus{Name: name, Objects: made.count}
		if spent != nil {
			status.Computed, status.Took = spent.calls, spent.time
		}
		return status
	})
	return made
}

// add adds a stage after those that it is made of.
func (p *program) add(s stage) { p.stages = append(p.stages, s) }

// alert notes that an input has news. It may be called by any goroutine.
func (p *program) alert() { monitor.Wake(p.wake) }

// order brings the inputs into the order of leaves, which are the same.
func (p *program) order(leaves []leaf) {
	place := func(in input) int { return slices.IndexFunc(leaves, func(l leaf) bool { return l.same(in.leafOf()) }) }
	slices.SortFunc(p.inputs, func(a, b input) int { return cmp.Compare(place(a), place(b)) })
}

// follow follows all inputs. The error is that of the first input that cannot be followed.
func (p *program) follow() error {
	for i, in := range p.inputs {
		if err := in.begin(p.alert); err != nil {
			for _, before := range p.inputs[:i] {
				before.end()
			}
			return err
		}
	}
	return nil
}

// unfollow ends that.
func (p *program) unfollow() {
	for _, in := range p.inputs {
		in.end()
	}
}

// look returns whether all inputs have synced, and what keeps them from that, or from
// working.
func (p *program) look() (synced bool, trouble error) {
	synced = true
	for _, in := range p.inputs {
		state := in.state()
		switch {
		case !state.synced:
			if synced {
				trouble = &source.WaitingError{For: in.inputName(), Err: state.err}
			}
			synced = false
		case state.err != nil && trouble == nil:
			trouble = fmt.Errorf("input %s: %w", in.inputName(), state.err)
		}
	}
	return synced, trouble
}

// take takes what has come from all inputs, and returns the versions that they are at.
func (p *program) take() (versions []string) {
	for _, in := range p.inputs {
		versions = append(versions, in.take())
	}
	return versions
}

// step runs all stages once.
func (p *program) step() {
	for _, s := range p.stages {
		s.step()
	}
}

// settle ends a step.
func (p *program) settle() {
	for _, s := range p.stages {
		s.settle()
	}
}

// recoverTo makes an error of a panic, and reports it.
func recoverTo(err *error) {
	if p := recover(); p != nil {
		goroutine.Report(context.Background(), p)
		if cause, ok := p.(error); ok {
			*err = fmt.Errorf("panic: %w", cause)
			return
		}
		*err = fmt.Errorf("panic: %v", p)
	}
}

// ask makes the goroutine of Run call f between two steps of the view's program, and waits for it.
func (v *View[T]) ask(ctx context.Context, f func(p *program)) error {
	if err := v.Err(); err != nil {
		return err
	}
	err := ErrNotRunning
	if p := v.running.first(); p != nil {
		err = p.ask(ctx, func() { f(p) })
	}
	if err != nil {
		return fmt.Errorf("view %s: %w", v.name, err)
	}
	return nil
}

// ask makes the goroutine of Run call f between two steps, and waits for it.
func (p *program) ask(ctx context.Context, f func()) error {
	done := make(chan struct{})
	select {
	case p.asked <- func() {
		defer close(done)
		goroutine.Call(ctx, f)
	}:
	case <-p.ended:
		return ErrNotRunning
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	<-done
	return nil
}
