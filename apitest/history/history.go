// Package history checks the events of an informer against the writes of a server.
//
// A [History] is a handler that plays events back: it holds the objects that its
// events have brought, and notes every event that does not follow from the ones
// before. After any trouble of the connection, an informer has lost nothing if
// its History has no error, [Diff] finds no difference between it, the informer
// and the server, and [History.Lost] finds nothing among the writes. At any time,
// [History.Undead] finds nothing that the informer has taken for deleted.
package history

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// Object is what a history can be kept of: an object that knows its version.
type Object interface {
	index.Object
	GetResourceVersion() string
}

// maxErrors is how many errors are kept; more are counted.
const maxErrors = 10

// History keeps the events of one handler or event stream. It is a
// typed.Handler; the events of a stream, which also have a reason, are given
// to Record. An event is an error
//
//  1. that adds what is there, or updates or deletes what is not,
//  2. whose old object is not the very one of the event before,
//  3. whose version is older than that of the event before, or the same although
//     it was watched, see OwnWrites.
//
// Its methods are safe for concurrent use.
type History[T Object] struct {
	// OwnWrites is set before the first event if the informer has kube.WithWrites: API servers
	// answer a deletion without its version, so that such an event has the object before.
	OwnWrites bool

	mu      sync.Mutex
	objects map[index.Key]T      // guarded by mu
	steps   map[index.Key][]step // guarded by mu
	deleted map[types.UID]T      // guarded by mu; as they were last
	gaps    []gap                // guarded by mu
	watched string               // guarded by mu; version of the last event that was watched
	events  int                  // guarded by mu
	relists int                  // guarded by mu; events that a relist made
	errs    []error              // guarded by mu; the first maxErrors
	more    int                  // guarded by mu; errors beyond those
}

// step is one event of an object.
type step struct {
	version string // since then, or the last that is known for a deletion
	deleted bool
}

// New returns a History without events.
func New[T Object]() *History[T] {
	return &History[T]{objects: map[index.Key]T{}, steps: map[index.Key][]step{}, deleted: map[types.UID]T{}}
}

func _[T Object]() { var _ typed.Handler[T] = (*History[T])(nil) }

// OnAdd implements typed.Handler.
func (h *History[T]) OnAdd(obj T, initial bool) {
	reason := index.Watched
	if initial {
		reason = index.Initial
	}
	h.Record(typed.Event[T]{Type: index.Added, Reason: reason, New: obj})
}

// OnUpdate implements typed.Handler. A handler gets no reason; it is taken to be
// a relist, of which less is asked.
func (h *History[T]) OnUpdate(old, updated T) {
	h.Record(typed.Event[T]{Type: index.Updated, Reason: index.Relisted, Old: old, New: updated})
}

// OnDelete implements typed.Handler.
func (h *History[T]) OnDelete(d typed.Deleted[T]) {
	h.record(typed.Event[T]{Type: index.Deleted, Reason: d.Reason, New: d.Object}, false)
}

// Record plays an event back.
func (h *History[T]) Record(e typed.Event[T]) { h.record(e, e.Type != index.Added) }

// record plays an event back. If tellsOld is false, the event does not have the state before.
func (h *History[T]) record(e typed.Event[T], tellsOld bool) {
	key := e.Key()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events++
	if e.Reason == index.Relisted {
		h.relists++
	}
	held, ok := h.objects[key]
	switch {
	case e.Type == index.Added && ok:
		h.fail("%s added, but it is there at version %s", describe(e.New), held.GetResourceVersion())
	case e.Type != index.Added && !ok:
		h.fail("%s: %v, but it is not there", describe(e.New), e.Type)
	case tellsOld && !index.Same(held, e.Old):
		h.fail("%s: %v, but the old object is %s and the one before was %s", describe(e.New), e.Type, describe(e.Old), describe(held))
	case e.Type != index.Added:
		h.checkOrder(held, e)
	}
	h.span(e.Reason, e.New.GetResourceVersion())
	h.steps[key] = append(h.steps[key], step{version: e.New.GetResourceVersion(), deleted: e.Type == index.Deleted})
	if e.Type == index.Deleted {
		delete(h.objects, key)
		h.bury(e)
	} else {
		h.objects[key] = e.New
	}
}

// checkOrder checks that an event goes forward. The caller holds mu.
func (h *History[T]) checkOrder(held T, e typed.Event[T]) {
	order, err := resourceversion.CompareResourceVersion(e.New.GetResourceVersion(), held.GetResourceVersion())
	if err != nil {
		h.fail("%s: %w", describe(e.New), err)
		return
	}
	own := h.OwnWrites && e.Type == index.Deleted && index.Same(e.New, held)
	if order < 0 || order == 0 && e.Reason == index.Watched && !own {
		h.fail("%s: %v (%v), but it was at version %s before", describe(e.New), e.Type, e.Reason, held.GetResourceVersion())
	}
}

// fail notes an error. The caller holds mu.
func (h *History[T]) fail(format string, args ...any) {
	if len(h.errs) == maxErrors {
		h.more++
		return
	}
	h.errs = append(h.errs, fmt.Errorf(format, args...))
}

// Err returns the first errors, joined, and how many more there were; nil if
// there were none.
func (h *History[T]) Err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	errs := h.errs
	if h.more > 0 {
		errs = append(slices.Clone(errs), fmt.Errorf("and %d more", h.more))
	}
	return errors.Join(errs...)
}

// Objects returns the objects that there are after all events. The caller owns
// the slice.
func (h *History[T]) Objects() []T {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.objects))
}

// Get returns the object of that key after all events.
func (h *History[T]) Get(key index.Key) (obj T, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	obj, ok = h.objects[key]
	return obj, ok
}

// Events returns how many events there were, and how many of them a relist
// made, as far as events had that reason.
func (h *History[T]) Events() (all, relisted int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.events, h.relists
}

func describe[T Object](obj T) string {
	return fmt.Sprintf("%v@%s", index.KeyOf(obj), obj.GetResourceVersion())
}
