package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubetyped/informer/index"
)

// Status is a report on a running view.
type Status struct {
	// Stages contains each view that it is made of, inputs first, itself last.
	Stages []StageStatus
	// Failing is how many objects cannot be computed now, and Failures reports up to 20 of
	// them, in the order of their keys.
	Failing  int
	Failures []Failure
}

// Failure reports an object for which a function panics, or of a name that several objects are
// made with.
type Failure struct {
	// Key is that of the object that the function was called for, or the name.
	Key index.Key
	// Err is the panic or the conflict of names, with the view that it is in.
	Err error
}

// maxFailures is how many failures Status reports.
const maxFailures = 20

// StageStatus is a report on one view of those that a running view is made of.
type StageStatus struct {
	Name string
	// Objects is how many there are.
	Objects int
	// Computed is how many were computed since the informer was started, and Took the
	// time that it took in all.
	Computed int
	Took     time.Duration
}

// Status reports on the view, and on those that it is made of. It waits for the step that
// is being computed. The view has to be the source of an informer that runs. Of several, each
// computes the view for itself, and Status reports on the one that began first.
func (v *View[T]) Status(ctx context.Context) (s Status, err error) {
	err = v.ask(ctx, func(p *program) {
		for _, report := range p.reports {
			s.Stages = append(s.Stages, report())
		}
		s.Failing = p.failing
		for key, faults := range p.faults {
			for _, one := range faults {
				s.Failures = append(s.Failures, Failure{key, one.err})
			}
		}
		slices.SortStableFunc(s.Failures, func(a, b Failure) int { return strings.Compare(a.Key.String(), b.Key.String()) })
		s.Failures = s.Failures[:min(len(s.Failures), maxFailures)]
	})
	return s, err
}

// VersionOf is the version of one input.
type VersionOf struct {
	// Input is its name.
	Input string
	// ResourceVersion is the version of the input that the view reflects, "" if unknown.
	ResourceVersion string
}

// Versions returns which versions of its inputs are in what the informer of the view is
// read to have: all of its objects are what is made of these, or of later ones. It is
// empty before there is anything. For one state of the informer, see [View.ParseVersion].
func (v *View[T]) Versions() []VersionOf {
	if v.Err() != nil {
		return nil
	}
	return v.named(v.running.versions())
}

// ParseVersion returns the versions of the inputs that a state of the view's informer was
// computed from: the resource version of the informer, or of a Snapshot of it, has them in
// the order of inputs, with commas in between, and with parentheses around one that has
// commas itself, since the input is an informer of a view of several. It returns nil if that
// is not a version of this view, or empty, as it is if the version of an input is unknown.
func (v *View[T]) ParseVersion(resourceVersion string) []VersionOf {
	if v.Err() != nil || resourceVersion == "" {
		return nil
	}
	versions := splitVersion(resourceVersion, len(v.leaves))
	if versions == nil {
		return nil
	}
	return v.named(versions)
}

func (v *View[T]) named(versions []string) (named []VersionOf) {
	for i, version := range versions {
		named = append(named, VersionOf{v.leaves[i].inputName(), version})
	}
	return named
}

// WaitForResourceVersion waits until the informer of the view reflects a version of one of its
// inputs, as a write has returned it: a view that was made by [Of] or [Set.View]. Of several
// informers that run, it waits for all. It returns an error that wraps ErrNotRunning if the
// informer does not run, or ends, and ErrNotInput if the view is not made of the input. It
// returns an error if the version, or what the input is at, is no number, as that of a view of
// several inputs is; and the cause of ctx when that ends.
func (v *View[T]) WaitForResourceVersion(ctx context.Context, input Input, resourceVersion string) error {
	if err := v.Err(); err != nil {
		return err
	}
	if input == nil || input.defined() == nil {
		return fmt.Errorf("view %s: nil: %w", v.name, ErrNotInput)
	}
	d := input.defined()
	at := -1
	if len(d.leaves) == 1 && len(d.inputs) == 0 {
		at = slices.IndexFunc(v.leaves, d.leaves[0].same)
	}
	if at < 0 {
		return fmt.Errorf("view %s: %s: %w", v.name, d.name, ErrNotInput)
	}
	if err := v.running.wait(ctx, at, resourceVersion); err != nil {
		return fmt.Errorf("view %s: %s: %w", v.name, d.name, err)
	}
	return nil
}

// ErrNotRunning is the error of questions that only a running view can answer: one that is
// the source of an informer, the Run of which was called and has not returned.
var ErrNotRunning = errors.New("no running informer has this view as its source")

// ErrNotInput means that the argument of [View.WaitForResourceVersion] is no input of the
// view, or has no own resource version. Pass a view of Of or Set.View.
var ErrNotInput = errors.New("not an input of the view: pass a view of Of or Set.View that the view is made of")

// Input is a [View] of any objects.
type Input interface{ defined() *definition }
