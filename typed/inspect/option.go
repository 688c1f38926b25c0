package inspect

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// Option says what an Inspector shows, and how.
type Option func(*settings) error

// settings is what options set.
type settings struct {
	parts
	title     string
	contents  bool
	interval  time.Duration
	listeners int
	sharing   func() snapshot.Deduplication
	hosts     []string // by which the page is reached, see WithHosts
}

// parts are what an Inspector shows.
type parts struct {
	informers []typed.AnyInformer
	factories []Factory
	queues    []queuePart
	expecting []expectingPart
	groups    []Group
	fleets    []fleetPart
	writes    []Writes

	controllers []func() []snapshot.Controller
	problems    []func() []snapshot.Problem
}

// join adds other parts.
func (p *parts) join(other *parts) {
	p.informers = append(p.informers, other.informers...)
	p.factories = append(p.factories, other.factories...)
	p.queues = append(p.queues, other.queues...)
	p.expecting = append(p.expecting, other.expecting...)
	p.groups = append(p.groups, other.groups...)
	p.fleets = append(p.fleets, other.fleets...)
	p.writes = append(p.writes, other.writes...)
	p.controllers = append(p.controllers, other.controllers...)
	p.problems = append(p.problems, other.problems...)
}

// queuePart is a queue, and how it is asked for a key that came as text.
type queuePart struct {
	queue Queue
	state keyStates
}

// expectingPart is Expectations and their name.
type expectingPart struct {
	name         string
	expectations Expectations
}

// fleetPart is a Fleet and its name.
type fleetPart struct {
	name  string
	fleet Fleet
}

// with returns an option that calls set, or returns an error with a text if part is nil.
func with(part any, text string, set func(*settings)) Option {
	return func(s *settings) error {
		if argument.IsNil(part) {
			return errors.New(text)
		}
		set(s)
		return nil
	}
}

// WithInformers shows informers: each an *Informer or *SharedInformer. Those of a factory
// are better given by WithFactories, and those that do not run for as long as the program
// by Inspector.AddUntil, as the Inspector keeps what it is given.
func WithInformers(informers ...typed.AnyInformer) Option {
	return adding("WithInformers", "informer", informers, func(s *settings) *[]typed.AnyInformer { return &s.informers })
}

// adding returns an option that appends to a list, or returns an error if a part, which what names,
// is nil or cannot be compared.
func adding[P any](option, what string, added []P, list func(*settings) *[]P) Option {
	return func(s *settings) error {
		for _, part := range added {
			if argument.IsNil(part) {
				return fmt.Errorf("%s: %s is nil", option, what)
			}
			if !reflect.TypeOf(part).Comparable() {
				return fmt.Errorf("%s: a %T has no identity: pass a pointer", option, part)
			}
		}
		to := list(s)
		*to = append(*to, added...)
		return nil
	}
}

// WithFactories shows the informers that factories have at the time of each report.
func WithFactories(factories ...Factory) Option {
	return func(s *settings) error {
		for _, factory := range factories {
			if argument.IsNil(factory) {
				return errors.New("WithFactories: a factory is nil")
			}
		}
		s.factories = append(s.factories, factories...)
		return nil
	}
}

// WithQueue shows a queue. Details of a key are shown for queues whose keys are strings or are
// made of a namespace and a name, such as index.Key.
func WithQueue[K comparable](q KeyedQueue[K]) Option {
	return with(q, "WithQueue: queue is nil", func(s *settings) { s.queues = append(s.queues, queuePart{q, keyStatesOf(q)}) })
}

// WithExpectations shows a controller's expectations under a name.
func WithExpectations(name string, e Expectations) Option {
	return with(e, "WithExpectations: they are nil", func(s *settings) { s.expecting = append(s.expecting, expectingPart{name, e}) })
}

// WithGroup shows the state of this process as a member of a shard group.
func WithGroup(g Group) Option {
	return with(g, "WithGroup: the group is nil", func(s *settings) { s.groups = append(s.groups, g) })
}

// WithFleet shows the clusters of an informer; name is what the page calls them.
func WithFleet(name string, f Fleet) Option {
	return with(f, "WithFleet: the fleet is nil", func(s *settings) { s.fleets = append(s.fleets, fleetPart{name, f}) })
}

// WithWrites shows the counts of the answers to own writes, one part for each API server.
// A Writes that is given twice is shown once.
func WithWrites(writes ...Writes) Option {
	return adding("WithWrites", "a Writes", writes, func(s *settings) *[]Writes { return &s.writes })
}

// WithControllers shows controllers of another framework, those that a function returns for
// each report. Their IDs are set here.
func WithControllers(controllers func() []snapshot.Controller) Option {
	return with(controllers, "WithControllers: function is nil", func(s *settings) { s.controllers = append(s.controllers, controllers) })
}

// WithProblems shows more problems, those that a function returns for each report. If their
// Part is empty, it is the first informer of their Name.
func WithProblems(problems func() []snapshot.Problem) Option {
	return with(problems, "WithProblems: function is nil", func(s *settings) { s.problems = append(s.problems, problems) })
}

// WithDeduplication shows the deduplication table:
//
//	inspect.WithDeduplication(func() snapshot.Deduplication { return snapshot.Deduplication(kube.Deduplication()) })
func WithDeduplication(sharing func() snapshot.Deduplication) Option {
	return with(sharing, "WithDeduplication: function is nil", func(s *settings) { s.sharing = sharing })
}

// WithObjectContents makes the page of a key show objects as JSON, to all readers of the page.
// Secrets are never shown, and neither is an object of which it is not known what it is: one
// that comes from no API server and has no kind.
func WithObjectContents() Option {
	return func(s *settings) error {
		s.contents = true
		return nil
	}
}

// WithTitle sets what the page is called, otherwise the name of the program.
func WithTitle(title string) Option {
	return func(s *settings) error {
		if title == "" {
			return errors.New("WithTitle: the title is empty")
		}
		s.title = title
		return nil
	}
}

// WithInterval sets how often open pages and other listeners get a report; the default is two
// seconds. It is at least 100 ms.
func WithInterval(d time.Duration) Option {
	return func(s *settings) error {
		if d < 100*time.Millisecond {
			return fmt.Errorf("WithInterval: %v is less than 100 ms", d)
		}
		s.interval = d
		return nil
	}
}

// WithMaxListeners sets how many may listen to events at a time, otherwise 16; others are
// answered 503 and may try again. Each open page that is kept up to date is one.
func WithMaxListeners(n int) Option {
	return func(s *settings) error {
		if n < 1 {
			return fmt.Errorf("WithMaxListeners: %d is less than 1", n)
		}
		s.listeners = n
		return nil
	}
}
