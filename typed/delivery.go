package typed

import (
	"errors"
	"fmt"
	"time"
)

// Delivery is the policy by which a handler gets its events when it is slower
// than they come. The zero Delivery is EveryEvent.
type Delivery struct {
	kind  deliveryKind
	limit int
}

type deliveryKind uint8

const (
	everyEvent deliveryKind = iota
	coalesce
	block
)

// EveryEvent delivers every event. Events for a slow handler wait without a bound, as in
// client-go; Registration.Backlog returns their number.
func EveryEvent() Delivery { return Delivery{kind: everyEvent} }

// Coalesce keeps at most one event for each object: if the object changes
// again before the handler was called, the two are joined to one, from the
// state that the handler knows to the latest. An object that came and went
// meanwhile is not reported, one that went and came back is reported as an
// update. So what is kept is bounded by the number of objects.
func Coalesce() Delivery { return Delivery{kind: coalesce} }

// Block delivers every event, and keeps the informer from taking in more while
// n or more of them wait. The store is behind as well then, and in the end the
// server is read no faster than the handler goes. Events are taken in at most n
// at a time, so up to twice as many can wait, apart from those of a list, which
// come together.
//
// A handler with this policy must not wait for the informer to make progress.
func Block(n int) Delivery { return Delivery{kind: block, limit: n} }

// String returns the policy as it is written in Go.
func (d Delivery) String() string {
	switch d.kind {
	case coalesce:
		return "Coalesce()"
	case block:
		return fmt.Sprintf("Block(%d)", d.limit)
	default:
		return "EveryEvent()"
	}
}

// HandlerOption sets up how a handler is called.
type HandlerOption func(*handlerConfig) error

type handlerConfig struct {
	name     string
	delivery Delivery
	resync   time.Duration
	jitter   float64 // of the period of resyncs
	onSynced func()
}

// WithDelivery sets the policy for a handler that is slower than its events.
func WithDelivery(d Delivery) HandlerOption {
	return func(c *handlerConfig) error {
		if d.kind == block && d.limit < 1 {
			return fmt.Errorf("policy %v needs room for at least one event", d)
		}
		c.delivery = d
		return nil
	}
}

// WithResync calls the handler with an update of every object, old and new being the same,
// each time the period has passed; 0 means never. The period begins again when the last of
// these updates was delivered, with Coalesce when it was queued. Nothing is asked of the server.
func WithResync(period time.Duration) HandlerOption {
	return func(c *handlerConfig) error {
		if period < 0 {
			return fmt.Errorf("the resync period %v is negative", period)
		}
		c.resync = period
		return nil
	}
}

// WithResyncJitter lengthens each period of WithResync by a random part of it, of up to
// the given fraction: with 0.1, a period of ten minutes is one of ten to eleven. So
// handlers that began at the same moment, such as those of all controllers of a
// program, do not resync at the same moment for ever. By default there is none.
func WithResyncJitter(fraction float64) HandlerOption {
	return func(c *handlerConfig) error {
		if !(fraction >= 0 && fraction <= 1) { // NaN is neither
			return fmt.Errorf("the jitter of resyncs is %v; give a fraction of the period, from 0 to 1", fraction)
		}
		c.jitter = fraction
		return nil
	}
}

// WithOnSynced calls f once when the handler is synced, on the handler's goroutine, before the
// next event.
func WithOnSynced(f func()) HandlerOption {
	return func(c *handlerConfig) error {
		if f == nil {
			return errors.New("WithOnSynced: function is nil")
		}
		c.onSynced = f
		return nil
	}
}

// WithHandlerName sets the name by which a handler appears in Status and logs.
// Otherwise it is the handler's type, "functions" for HandlerFuncs, "events" for
// Informer.Events, or what a Describer says.
func WithHandlerName(name string) HandlerOption {
	return func(c *handlerConfig) error {
		if name == "" {
			return errors.New("the handler's name is empty")
		}
		c.name = name
		return nil
	}
}
