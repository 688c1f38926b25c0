package history

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kubetyped/informer/index"
)

// Write is a write of an object by any client.
type Write struct {
	// Version is the one that the object has since, unless it was deleted.
	Version string
	// Delete reports that the object was deleted.
	Delete bool
}

// gap is a range of versions whose events a relist replaced: a list has the state of objects
// and not how they came to it. It reaches from the last watched event before the relist to the
// first one after it.
type gap struct {
	after, before string // versions, exclusive; before is empty while there is no such event
}

// span notes what an event means for the gaps. The caller holds mu.
func (h *History[T]) span(reason index.Reason, version string) {
	last := len(h.gaps) - 1
	open := last >= 0 && h.gaps[last].before == ""
	switch {
	case reason == index.Watched:
		if open {
			h.gaps[last].before = version
		}
		h.watched = version
	case reason == index.Relisted && !open:
		h.gaps = append(h.gaps, gap{after: h.watched})
	}
}

// Lost compares the writes of one object since the History began, in order, with the events
// that were recorded, which must be those of an event stream that reports unchanged objects
// too. It describes each write that no event reports, unless a relist stood in for it: it
// happened between the last event before the relist that was watched, and the first one after
// it.
func (h *History[T]) Lost(key index.Key, writes []Write) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var lost []string
	last := "" // version before the write
	for i, w := range writes {
		from, to := last, w.Version
		if w.Delete && i+1 < len(writes) {
			to = writes[i+1].Version
		}
		reported := slices.ContainsFunc(h.steps[key], func(s step) bool { return s.reports(w, from, to, h.OwnWrites) })
		if !reported && !h.relisted(w, from, to) {
			lost = append(lost, fmt.Sprintf("%v: %s", key, w.describe(from)))
		}
		if !w.Delete {
			last = w.Version
		}
	}
	return lost
}

// reports reports whether a step has the version of a write. It has a deletion, which happened
// after version from and not after version to, if it is a deletion between them. The event of an
// own deletion has version from.
func (s step) reports(w Write, from, to string, own bool) bool {
	if !w.Delete {
		return !s.deleted && s.version == w.Version
	}
	return s.deleted && (newer(s.version, from) || own && s.version == from) && (to == "" || newer(to, s.version))
}

// relisted reports whether the write may have happened in a gap. The caller
// holds mu.
func (h *History[T]) relisted(w Write, from, to string) bool {
	if !w.Delete {
		from = w.Version // it is exactly known
	}
	return slices.ContainsFunc(h.gaps, func(g gap) bool {
		begins := to == "" || newer(to, g.after)
		ends := g.before == "" || newer(g.before, from)
		return begins && ends
	})
}

// newer reports whether a is a later version than b; every version is later than
// none.
func newer(a, b string) bool {
	if b == "" {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order > 0
}

func (w Write) describe(last string) string {
	if w.Delete {
		return "the deletion after version " + last
	}
	return "version " + w.Version
}
