package sinktest

import (
	"sync"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// Recorder is the Sink at the end of a path, which keeps what is reported to it.
type Recorder[T index.Object] struct {
	Meter    source.Meter
	Held     map[index.Key]T
	Modifies bool
	Needs    []string
	OnError  func(err error) // is called for each that is reported; may be nil

	mu      sync.Mutex
	reports []Report[T] // guarded by mu
	errs    []error     // guarded by mu
}

// Report is one call of Change, Step, Replace or Progress.
type Report[T index.Object] struct {
	Method   string
	Changes  []index.Change[T]
	List     source.List
	Version  string
	Done     func()
	Progress [2]int
}

func (r *Recorder[T]) add(report Report[T]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, report)
}

// Take returns what was reported since it was last called.
func (r *Recorder[T]) Take() (reports []Report[T], errs []error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	reports, errs = r.reports, r.errs
	r.reports, r.errs = nil, nil
	return reports, errs
}

// Change implements source.Sink.
func (r *Recorder[T]) Change(c index.Change[T], version string) {
	r.add(Report[T]{Method: "Change", Changes: []index.Change[T]{c}, Version: version})
}

// Step implements source.Sink. That versions have moved is not noted.
func (r *Recorder[T]) Step(changes []index.Change[T], version string, done func()) {
	if len(changes) == 0 && version == "" && done == nil {
		return
	}
	r.add(Report[T]{Method: "Step", Changes: changes, Version: version, Done: done})
}

// Stage implements source.Sink.
func (r *Recorder[T]) Stage(obj T, _ string) source.Staged { return source.Keep(obj) }

// Replace implements source.Sink.
func (r *Recorder[T]) Replace(l source.List, version string) {
	r.add(Report[T]{Method: "Replace", List: l, Version: version})
}

// Progress implements source.Sink.
func (r *Recorder[T]) Progress(received, expected int) {
	r.add(Report[T]{Method: "Progress", Progress: [2]int{received, expected}})
}

// Report implements source.Sink.
func (r *Recorder[T]) Report(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
	if r.OnError != nil && err != nil {
		r.OnError(err)
	}
}

// Decoding implements source.Sink.
func (r *Recorder[T]) Decoding() source.Decoding[T] {
	return source.Decoding[T]{Meter: &r.Meter, Modifies: r.Modifies, Needs: r.Needs, Held: func(key index.Key) (T, bool) {
		obj, ok := r.Held[key]
		return obj, ok
	}}
}
