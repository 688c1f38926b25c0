package tracing

import (
	"slices"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kubetyped/informer/index"
)

// maxEvents is how many events of one object are remembered.
const maxEvents = 8

// Events are the events of a source that are traced, for the handlers to which they come.
// A nil *Events has none. It is safe for concurrent use.
type Events struct {
	tracer   *Tracer
	kind     string       // of objects
	handlers atomic.Int64 // that were made for these events
	underway *bounded[index.Key, []event]
}

// event is an event that is traced.
type event struct {
	span     trace.SpanContext // of receiving it
	version  string            // "": not known
	deleted  bool
	byKey    bool // the deletion is known by its key alone; calls for it have an earlier version
	received time.Time
	handled  []*listener // who was called for it
}

// listener is a handler, as far as events have to know of it.
type listener struct{ _ byte }

// add remembers an event.
func (e *Events) add(key index.Key, received event) {
	e.underway.change(key, received.received, func(all []event) ([]event, bool) {
		if len(all) == maxEvents {
			all = slices.Delete(all, 0, 1)
		}
		return append(all, received), true
	})
}

// take returns the events that a call of a handler is for, oldest first, and forgets them if
// this was the last handler. With typed.Coalesce there may be several. Deleted is true if the
// call is for a deletion.
func (e *Events) take(by *listener, key index.Key, version string, deleted bool) (taken []event) {
	e.underway.change(key, time.Now(), func(all []event) ([]event, bool) {
		earlier := deleted // the call may have the version of a state before the next deletion by key
		for i := range all {
			x := &all[i]
			switch {
			case slices.Contains(x.handled, by):
				continue
			case x.isFor(version, deleted):
			case earlier && x.byKey:
				earlier = false
			default:
				continue
			}
			taken = append(taken, *x)
			x.handled = append(x.handled, by)
		}
		all = slices.DeleteFunc(all, func(x event) bool { return int64(len(x.handled)) >= e.handlers.Load() })
		return all, len(all) > 0
	})
	return taken
}

// isFor reports whether a call for an object of a version reports the event, or, with
// typed.Coalesce, a later state.
func (x *event) isFor(version string, deleted bool) bool {
	if x.version == "" || version == "" {
		return deleted || !x.deleted
	}
	order, err := resourceversion.CompareResourceVersion(x.version, version)
	return err != nil || order < 0 || order == 0 && (deleted || !x.deleted)
}
