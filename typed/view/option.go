package view

import (
	"errors"
	"time"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/internal/semantic"
)

// Option sets up a view.
type Option func(*options) error

type options struct {
	name   string
	equal  any // func(a, b T) bool
	checks bool

	metrics Metrics

	uncompared bool // an object that is made again counts as changed
	fixed      bool // see computed.fixed
}

// WithName sets the name by which a view appears in errors, Status and Explain.
// Otherwise it is what it is made of: "JoinOn(*v1.Pod, *v1.Node)".
func WithName(name string) Option {
	return func(o *options) error {
		if name == "" {
			return errors.New("the name is empty")
		}
		o.name = name
		return nil
	}
}

// WithEqual sets the function that compares a recomputed object with the previous one. If they
// are equal, the view drops the new one and recomputes nothing that depends on it. Without it,
// pointers and structs that are == are equal, and objects with another resource version are not.
// Otherwise a method Equal(T) bool decides if there is one, or else apimachinery's
// equality.Semantic.DeepEqual, which looks at all fields, or reflect.DeepEqual for types with
// fields that are not exported.
func WithEqual[T index.Object](equal func(a, b T) bool) Option {
	return func(o *options) error {
		if equal == nil {
			return errors.New("WithEqual: function is nil")
		}
		o.equal = equal
		return nil
	}
}

// WithChecks calls each function twice, and reports objects for which the two results
// are not equal: functions of views are pure. It is for tests.
func WithChecks() Option {
	return func(o *options) error {
		o.checks = true
		return nil
	}
}

// Metrics receives the cost of views. Its method is called by the goroutine of Run of the
// informer that is made of the view, and must return soon. Several views may be given the same
// Metrics; those of several informers call it at the same time. A panic of it goes to
// utilruntime.HandleCrash; with crashing disabled, the view continues.
type Metrics interface {
	// Computed reports that functions of the view of a name were called for a number of
	// objects, or of keys for Group, in one step, and how long the view's part of that step
	// took. It is not called for steps in which there was nothing to compute.
	Computed(view string, objects int, took time.Duration)
}

// WithMetrics makes a view report what it costs. It is about this view alone, not about those
// that it is made of. The informer that is made of a view has observe.WithMetrics, besides.
func WithMetrics(m Metrics) Option {
	return func(o *options) error {
		if m == nil {
			return errors.New("the metrics are nil")
		}
		o.metrics = m
		return nil
	}
}

func withoutComparison(o *options) error {
	o.uncompared = true
	return nil
}

func withFixedFetches(o *options) error {
	o.fixed = true
	return nil
}

// gather applies options.
func gather[T index.Object](opts []Option) (o options, equal func(a, b T) bool, err error) {
	errs := []error{argument.ApplyOptions(&o, opts)}
	equal = equalByDefault[T]()
	if o.equal != nil {
		var ok bool
		if equal, ok = o.equal.(func(a, b T) bool); !ok {
			errs = append(errs, errors.New("WithEqual compares objects of another type than "+typeName[T]()))
		}
	}
	return o, equal, errors.Join(errs...)
}

// equalByDefault returns what compares objects, see WithEqual.
func equalByDefault[T index.Object]() func(a, b T) bool {
	var none T
	if _, ok := any(none).(interface{ Equal(other T) bool }); ok {
		return func(a, b T) bool { return any(a).(interface{ Equal(other T) bool }).Equal(b) }
	}
	equal := semantic.Equal[T]()
	return func(a, b T) bool { return versionOf(a) == versionOf(b) && equal(a, b) }
}

func versionOf[T index.Object](obj T) string {
	if versioned, ok := any(obj).(interface{ GetResourceVersion() string }); ok {
		return versioned.GetResourceVersion()
	}
	return ""
}
