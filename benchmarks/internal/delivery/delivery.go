// Package delivery sends watch events as fast as handlers take them, and waits
// until every handler has got them all.
package delivery

import (
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/benchmarks/internal/ring"
)

// Events are sent as fast as they are taken, but with a bound: without it, the receiver would
// keep queueing, and the result would depend on the number of events. When so many are in
// flight, the sender waits for handlers.
const (
	stride = 1024
	// Window is how many events are in flight at most.
	Window = 8 * stride
)

// Delivery sends events to handlers that count them.
type Delivery struct {
	// Meters has one for each handler.
	Meters   []*Meter
	progress chan struct{} // a handler has got stride more events
	ended    chan struct{} // a handler has got all that are sent
}

// New returns a delivery to so many handlers.
func New(handlers int) *Delivery {
	d := &Delivery{
		progress: make(chan struct{}, handlers*(Window/stride+1)),
		ended:    make(chan struct{}, handlers),
	}
	for range handlers {
		d.Meters = append(d.Meters, &Meter{progress: d.progress, ended: d.ended})
	}
	return d
}

// Send sends n events, going through events as often as need be, and returns
// when every meter has counted to n. They begin at zero.
func (d *Delivery) Send(to chan<- watch.Event, events []watch.Event, n int) {
	for _, m := range d.Meters {
		m.count, m.target = 0, n
	}
	next := ring.Of(events)
	for sent := range n {
		if sent >= Window && sent%stride == 0 {
			for range d.Meters {
				<-d.progress
			}
		}
		to <- next.Next()
	}
	for range d.Meters {
		<-d.ended
	}
	for len(d.progress) > 0 {
		<-d.progress
	}
}
