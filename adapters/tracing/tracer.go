package tracing

import (
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// scope is the name of the instrumentation.
const scope = "github.com/kubetyped/informer/adapters/tracing"

// What applies without options.
const (
	defaultRate   = 100
	defaultEvents = 1024
	defaultAge    = 10 * time.Minute
)

// Tracer decides which events are traced, and makes their spans. One is enough for a
// program. A nil *Tracer traces nothing. It is safe for concurrent use.
type Tracer struct {
	config
	tracer trace.Tracer
	rate   rate
}

// New returns a Tracer. Without options it traces every event, but no more than 100 in a
// second, and makes spans by the global TracerProvider of package otel. It returns an error
// that reports what is wrong with the options.
func New(opts ...Option) (*Tracer, error) {
	c := config{oneIn: 1, perSecond: defaultRate, events: defaultEvents, age: defaultAge, propagator: propagation.TraceContext{}}
	var errs []error
	for _, opt := range opts {
		if opt == nil {
			errs = append(errs, errors.New("tracing: option is nil"))
		} else if err := opt(&c); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if c.provider == nil {
		c.provider = otel.GetTracerProvider()
	}
	return &Tracer{config: c, tracer: c.provider.Tracer(scope), rate: rate{perSecond: c.perSecond}}, nil
}
