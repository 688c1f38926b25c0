package delivery

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/watch"
)

// TestSendWaitsForAllHandlers sends less and more than may be in flight, twice, to handlers of
// which each takes an event from the one before it.
func TestSendWaitsForAllHandlers(t *testing.T) {
	const handlers = 3
	d := New(handlers)
	events := make(chan watch.Event)
	var running sync.WaitGroup
	next := events
	for _, m := range d.Meters {
		from, to := next, make(chan watch.Event, 2*Window)
		running.Go(func() {
			defer close(to)
			for event := range from {
				m.Add()
				to <- event
			}
		})
		next = to
	}
	running.Go(func() {
		for range next {
		}
	})
	for _, n := range []int{1, stride, Window, 3*Window + 5} {
		d.Send(events, make([]watch.Event, 7), n)
		for _, m := range d.Meters {
			assert.Equal(t, n, m.Count())
		}
	}
	close(events)
	running.Wait()
}
