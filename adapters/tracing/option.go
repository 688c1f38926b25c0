package tracing

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Option sets up a Tracer.
type Option func(*config) error

type config struct {
	provider   trace.TracerProvider
	propagator propagation.TextMapPropagator
	oneIn      uint64
	perSecond  int
	events     int
	age        time.Duration
}

// WithTracerProvider makes spans made by a provider, instead of the global one. What that one
// samples comes on top: it is asked for the events that WithSampling lets through.
func WithTracerProvider(provider trace.TracerProvider) Option {
	return func(c *config) error {
		if provider == nil {
			return errors.New("tracing: the TracerProvider is nil")
		}
		c.provider = provider
		return nil
	}
}

// WithPropagator sets how requests carry their trace to the API server, see Transport. The
// default is W3C's traceparent, which API servers read.
func WithPropagator(p propagation.TextMapPropagator) Option {
	return func(c *config) error {
		if p == nil {
			return errors.New("tracing: the propagator is nil")
		}
		c.propagator = p
		return nil
	}
}

// WithSampling has one event of so many traced, on average. It is decided by the
// object's namespace, name and resource version, so all programs that follow an object
// trace the same of its changes if they have the same number here.
func WithSampling(oneIn int) Option {
	return func(c *config) error {
		if oneIn < 1 {
			return fmt.Errorf("tracing: one event of %d cannot be traced, the least is 1", oneIn)
		}
		c.oneIn = uint64(oneIn)
		return nil
	}
}

// WithRate has at most so many events traced in a second, of those that WithSampling lets
// through; 0 stands for no limit. It is 100 without this option, as a trace costs about ten
// microseconds and a few kilobytes.
func WithRate(perSecond int) Option {
	return func(c *config) error {
		if perSecond < 0 {
			return fmt.Errorf("tracing: the rate %d is negative", perSecond)
		}
		c.perSecond = perSecond
		return nil
	}
}

// WithBounds sets what is remembered of events on their way: of so many objects for each
// source, and so many keys for each queue, for so long. When there are more, the oldest
// are forgotten, and what happens to them later is not traced. It is 1,024 for ten minutes
// without this option.
func WithBounds(objects int, age time.Duration) Option {
	return func(c *config) error {
		switch {
		case objects < 1:
			return fmt.Errorf("tracing: events of %d objects cannot be remembered, the least is 1", objects)
		case age <= 0:
			return fmt.Errorf("tracing: the time %v for which events are remembered is not positive", age)
		}
		c.events, c.age = objects, age
		return nil
	}
}
