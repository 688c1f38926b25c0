package metrics

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/shard"
)

// Option sets up Metrics. Options are checked by New and Metrics.Add.
type Option func(*options) error

// options choose the parts that Metrics collect, and their metrics.
type options struct {
	parts

	informerNames, handlerNames, clusterNames bool
	indexes                                   bool
	withoutClientGo                           bool
}

// parts are the parts that Metrics collect.
type parts struct {
	factories    []Factory
	informers    []typed.AnyInformer
	queues       []Queue
	expectations []namedExpectations
	groups       []Group
	fleets       []namedFleet
	writes       []Writes
}

// join adds other parts.
func (p *parts) join(other *parts) {
	p.factories = append(p.factories, other.factories...)
	p.informers = append(p.informers, other.informers...)
	p.queues = append(p.queues, other.queues...)
	p.expectations = append(p.expectations, other.expectations...)
	p.groups = append(p.groups, other.groups...)
	p.fleets = append(p.fleets, other.fleets...)
	p.writes = append(p.writes, other.writes...)
}

// Factory is a *typed.Factory, or whatever else has informers that come and go, such as an
// *inspect.Inspector.
type Factory interface {
	// Informers is Factory.Informers. It may be called at any time, by several goroutines.
	// While an informer is in use, each call returns the same pointer for it.
	Informers() []typed.AnyInformer
}

// Queue is a *queue.WorkQueue, whatever the type of its keys.
type Queue interface {
	// Report is WorkQueue.Report.
	Report(n int) queue.Report
}

// Expectations are a *control.Expectations, whatever the type of their keys.
type Expectations interface {
	// Stats is Expectations.Stats.
	Stats() control.ExpectationStats
}

type namedExpectations struct {
	name string
	Expectations
}

// Group is a *shard.Group.
type Group interface {
	// Name is Group.Name.
	Name() string
	// Status is Group.Status.
	Status() shard.Status
}

// Fleet is a *fleet.Source, whatever the type of its objects.
type Fleet interface {
	// Status is Source.Status.
	Status() []fleet.ClusterStatus
}

type namedFleet struct {
	name string
	Fleet
}

// Writes is a *kube.Writes.
type Writes interface {
	// Status is Writes.Status.
	Status() report.Writes
}

// WithFactories adds all informers of factories, at any time those that are in use then:
// who is asked for later appears, who is released by all vanishes.
func WithFactories(factories ...Factory) Option {
	return adding("factory", factories, func(o *options) *[]Factory { return &o.factories })
}

// WithInformers adds informers. They are reported from now on, even after they have stopped,
// or until a context ends, see Metrics.AddUntil; an informer that is added twice is reported
// once. Do not add a *typed.SharedInformer together with its factory: it would count twice.
func WithInformers(informers ...typed.AnyInformer) Option {
	return adding("informer", informers, func(o *options) *[]typed.AnyInformer { return &o.informers })
}

// WithQueues adds queues, for metrics that client-go's queues do not have: keys that fail,
// that are stuck, that wait by priority. For the rest, make them with queue.WithMetrics.
func WithQueues(queues ...Queue) Option {
	return adding("queue", queues, func(o *options) *[]Queue { return &o.queues })
}

// WithExpectations adds expectations under a name, that of their queue for example.
func WithExpectations(name string, e Expectations) Option {
	return func(o *options) error {
		if name == "" {
			return errors.New("expectations need a name")
		}
		if err := check("expectations", e); err != nil {
			return err
		}
		o.expectations = append(o.expectations, namedExpectations{name: name, Expectations: e})
		return nil
	}
}

// WithGroups adds groups of which this process is a member, to share objects with other
// processes.
func WithGroups(groups ...Group) Option {
	return adding("group", groups, func(o *options) *[]Group { return &o.groups })
}

// WithFleet adds the clusters of an informer under a name, that of the informer for example.
func WithFleet(name string, f Fleet) Option {
	return func(o *options) error {
		if name == "" {
			return errors.New("a fleet needs a name")
		}
		if err := check("fleet", f); err != nil {
			return err
		}
		o.fleets = append(o.fleets, namedFleet{name: name, Fleet: f})
		return nil
	}
}

// WithWrites adds own writes. Those to several API servers have common series, and reasons
// for which answers are left out appear with the first one.
func WithWrites(writes ...Writes) Option {
	return adding("Writes", writes, func(o *options) *[]Writes { return &o.writes })
}

// WithInformerNames gives each informer its own series, by a label with its name. Without it,
// informers of one kind have common series, whose values are added up, so their number does
// not grow with namespaces and clusters. The kind is empty for sources that do not report one,
// such as views. It is for New alone.
func WithInformerNames() Option {
	return enabling(func(o *options) *bool { return &o.informerNames })
}

// WithHandlerNames gives each handler its own series, by a label with its name. Without it,
// all handlers of an informer have common series. It is for New alone.
func WithHandlerNames() Option {
	return enabling(func(o *options) *bool { return &o.handlerNames })
}

// WithClusterNames gives each cluster of a fleet its own series, by the label cluster. Without
// it, the clusters of a fleet have common series. It is for New alone.
func WithClusterNames() Option {
	return enabling(func(o *options) *bool { return &o.clusterNames })
}

// WithIndexSizes reports the indexes of informers. For that, each key of each index is looked
// at whenever metrics are collected, some nanoseconds each: mind indexes with a million keys.
// It is for New alone.
func WithIndexSizes() Option {
	return enabling(func(o *options) *bool { return &o.indexes })
}

// WithoutClientGoNames leaves out the metrics workqueue_…, for registries that have them
// already, such as controller-runtime's: Metrics is of no use for queue.WithMetrics then.
// It is for New alone.
func WithoutClientGoNames() Option {
	return enabling(func(o *options) *bool { return &o.withoutClientGo })
}

// adding returns an option that appends to a list, unless one of the new elements cannot be used.
func adding[E any](what string, added []E, list func(*options) *[]E) Option {
	return func(o *options) error {
		for _, e := range added {
			if err := check(what, e); err != nil {
				return err
			}
		}
		to := list(o)
		*to = append(*to, added...)
		return nil
	}
}

func enabling(setting func(*options) *bool) Option {
	return func(o *options) error {
		*setting(o) = true
		return nil
	}
}

// check returns an error if v is nil, or cannot be compared with others.
func check(what string, v any) error {
	r := reflect.ValueOf(v)
	switch {
	case !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil():
		return fmt.Errorf("%s is nil", what)
	case !r.Comparable():
		return fmt.Errorf("the %s is a %T, which cannot be compared", what, v)
	}
	return nil
}

// applied returns what options set.
func applied(opts []Option) (options, error) {
	var o options
	var errs []error
	for _, opt := range opts {
		if opt == nil {
			errs = append(errs, errors.New("option is nil"))
		} else if err := opt(&o); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return options{}, fmt.Errorf("metrics: %w", err)
	}
	return o, nil
}
