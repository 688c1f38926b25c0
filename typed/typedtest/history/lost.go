package history

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kubetyped/informer/index"
)

// Write is what somebody did to an object.
type Write struct {
	// Version is the one that the object has since, unless it was deleted.
	Version string
	// Delete tells that the object was deleted.
	Delete bool
}

// String describes the write.
func (w Write) String() string {
	if w.Delete {
		return "its deletion"
	}
	return "version " + w.Version
}

// Lost compares the writes of one object, in order, with the events that were
// recorded, which must be those of an event stream. It describes each write that
// no event tells of, unless a relist stood in for it: a list tells the state of
// objects and not how they came to it. So a write may go untold if the next
// event of the object is of a relist, or the last one is a deletion of a relist.
func (h *History[T]) Lost(key index.Key, writes []Write) []string {
	h.mu.Lock()
	steps := h.steps[key]
	h.mu.Unlock()
	var lost []string
	last := "" // the version before the write
	next := 0  // of steps
	for _, w := range writes {
		at := next
		for at < len(steps) && steps[at].before(w, last) {
			at++
		}
		switch {
		case at < len(steps) && steps[at].tells(w):
			next = at + 1
		case at < len(steps) && steps[at].relisted:
		case at > 0 && steps[at-1].deleted && steps[at-1].relisted:
		default:
			lost = append(lost, fmt.Sprintf("%v: %v", key, w))
		}
		if !w.Delete {
			last = w.Version
		}
	}
	return lost
}

// tells reports whether the step tells of the write.
func (s step) tells(w Write) bool {
	return s.deleted == w.Delete && (w.Delete || s.version == w.Version)
}

// before reports whether the step tells of something before the write, of an
// object that was at version last.
func (s step) before(w Write, last string) bool {
	if w.Delete {
		return !s.deleted && !newer(s.version, last)
	}
	return newer(w.Version, s.version)
}

// newer reports whether a is a later version than b.
func newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order > 0
}
