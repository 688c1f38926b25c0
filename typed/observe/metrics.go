package observe

import (
	"errors"
	"reflect"

	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/observer"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// Metrics receives the metrics of an informer. Its methods are called by the goroutine that
// changes the store, and must return soon. SetResourceVersion is also called while Process
// runs, by the function that Process calls, so no lock may be held around that. Several
// informers that are given the same Metrics call it at the same time; see WithMetricsFor for
// metrics of each.
type Metrics interface {
	// SetQueued reports how many changes wait to be applied; a list counts as one. It is
	// called with the size of a batch when its processing begins, and with the number of new
	// changes when it ends.
	SetQueued(changes int)
	// Process calls process, which applies a batch: it changes the store, and passes the
	// events on to handlers, without waiting for these. Measure the time of the call. If
	// Process does not call it, the informer does; calls after the first one do nothing.
	Process(changes int, process func())
	// SetResourceVersion reports the version that the store has reached.
	SetResourceVersion(version string)
}

// WithMetrics reports the informer's metrics to m.
func WithMetrics(m Metrics) typed.Option { return typed.WithObserver(&metrics{own: m, alone: true}) }

// WithMetricsFor makes each informer report to the metrics that f returns for its name and the
// origin of its objects, so that each informer of a factory has its own. f returns nil for an
// informer without metrics. It is called when an informer is made.
//
// A label with the name has as many values as there ever are informers with different
// namespaces, selectors and hosts. That is fine for a program that knows them all when it is
// written. One that makes informers for whatever namespaces, tenants or clusters come along
// should label by the kind of the origin, and add up the values of several informers:
//
//	observe.WithMetricsFor(func(_ string, from source.Origin) observe.Metrics {
//		return metricsOf(from.Kind.GroupKind()) // one for each kind
//	})
func WithMetricsFor(f func(name string, from source.Origin) Metrics) typed.Option {
	return typed.WithObserver(&metrics{of: f})
}

// metrics measures an informer: by its own Metrics or, without these, by the common ones.
type metrics struct {
	own   Metrics
	of    func(string, source.Origin) Metrics
	alone bool // own was given
}

func (m *metrics) Observe(o observer.Observed) (observer.Hooks, error) {
	switch {
	case m.alone && m.own == nil:
		return observer.Hooks{}, errors.New("the metrics are nil")
	case !m.alone && m.of == nil:
		return observer.Hooks{}, errors.New("WithMetricsFor: function is nil")
	}
	metrics := m.own
	if metrics == nil {
		metrics = m.of(o.Name(), o.Origin())
	}
	if metrics == nil {
		return observer.Hooks{}, nil
	}
	return observer.Hooks{
		Batch: func(changes int, apply func()) {
			goroutine.CallSafely(func() { metrics.SetQueued(changes) })
			goroutine.CallSafely(func() { metrics.Process(changes, apply) })
			apply()
			goroutine.CallSafely(func() { metrics.SetQueued(o.Queued()) })
		},
		Reached: metrics.SetResourceVersion,
	}, nil
}

func (m *metrics) Option() string {
	if m.alone {
		return "WithMetrics"
	}
	return "WithMetricsFor"
}

func (m *metrics) Alone() bool { return m.alone }

func (m *metrics) Same(other observer.Observer) bool {
	o, ok := other.(*metrics)
	return ok && m.alone == o.alone && sameMetrics(m.own, o.own) && observer.SameFunction(m.of, o.of)
}

// After implements observer.Observer.
func (m *metrics) After(earlier observer.Observer) observer.Observer {
	e, ok := earlier.(*metrics)
	if !ok {
		return nil
	}
	both := *m
	if !m.alone {
		both.own, both.alone = e.own, e.alone
	}
	if m.of == nil {
		both.of = e.of
	}
	return &both
}

func sameMetrics(a, b Metrics) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.ValueOf(a).Comparable() && a == b
}
