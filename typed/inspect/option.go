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

// WithInformers shows informers: each an *Informer or *SharedInformer. Those of a factory
// are better given by WithFactories, and those that do not run for as long as the program
// by Inspector.AddUntil, as the Inspector keeps what it is given.
func WithInformers(informers ...typed.AnyInformer) Option {
	return func(s *settings) error {
		for _, informer := range informers {
			if argument.IsNil(informer) {
				return errors.New("WithInformers: informer is nil")
			}
			if !reflect.TypeOf(informer).Comparable() {
				return fmt.Errorf("WithInformers: a %T has no identity: pass a pointer", informer)
			}
		}
		s.informers = append(s.informers, informers...)
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
	return func(s *settings) error {
		if argument.IsNil(q) {
			return errors.New("WithQueue: queue is nil")
		}
		s.queues = append(s.queues, queuePart{q, keyStatesOf(q)})
		return nil
	}
}

// WithExpectations shows a controller's expectations under a name.
func WithExpectations(name string, e Expectations) Option {
	return func(s *settings) error {
		if argument.IsNil(e) {
			return errors.New("WithExpectations: they are nil")
		}
		s.expecting = append(s.expecting, expectingPart{name, e})
		return nil
	}
}

// WithGroup shows the state of this process as a member of a shard group.
func WithGroup(g Group) Option {
	return func(s *settings) error {
		if argument.IsNil(g) {
			return errors.New("WithGroup: the group is nil")
		}
		s.groups = append(s.groups, g)
		return nil
	}
}

// WithFleet shows the clusters of an informer; name is what the page calls them.
func WithFleet(name string, f Fleet) Option {
	return func(s *settings) error {
		if argument.IsNil(f) {
			return errors.New("WithFleet: the fleet is nil")
		}
		s.fleets = append(s.fleets, fleetPart{name, f})
		return nil
	}
}

// WithWrites shows the counts of the answers to own writes, one part for each API server.
// A Writes that is given twice is shown once.
func WithWrites(writes ...Writes) Option {
	return func(s *settings) error {
		for _, w := range writes {
			if argument.IsNil(w) {
				return errors.New("WithWrites: a Writes is nil")
			}
			if !reflect.TypeOf(w).Comparable() {
				return fmt.Errorf("WithWrites: a %T has no identity: pass a pointer", w)
			}
		}
		s.writes = append(s.writes, writes...)
		return nil
	}
}

// WithControllers shows controllers of another framework, those that a function returns for
// each report. Their IDs are set here.
func WithControllers(controllers func() []snapshot.Controller) Option {
	return func(s *settings) error {
		if controllers == nil {
			return errors.New("WithControllers: function is nil")
		}
		s.controllers = append(s.controllers, controllers)
		return nil
	}
}

// WithProblems shows more problems, those that a function returns for each report. If their
// Part is empty, it is the first informer of their Name.
func WithProblems(problems func() []snapshot.Problem) Option {
	return func(s *settings) error {
		if problems == nil {
			return errors.New("WithProblems: function is nil")
		}
		s.problems = append(s.problems, problems)
		return nil
	}
}

// WithDeduplication shows the deduplication table:
//
//	inspect.WithDeduplication(func() snapshot.Deduplication { return snapshot.Deduplication(kube.Deduplication()) })
func WithDeduplication(sharing func() snapshot.Deduplication) Option {
	return func(s *settings) error {
		if sharing == nil {
			return errors.New("WithDeduplication: function is nil")
		}
		s.sharing = sharing
		return nil
	}
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
