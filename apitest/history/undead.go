package history

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// Undead compares the deletions among the events with the objects that the server has now. It
// describes each deleted object, by its UID, that is there nevertheless: an informer that
// reports such a deletion has mistaken something else for one, such as an incomplete list.
// Objects that have left the scope of the informer (index.OutOfScope, index.Released) may be
// there, and objects without a UID are ignored.
func (h *History[T]) Undead(server []T) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var undead []string
	for _, obj := range server {
		if last, ok := h.deleted[uidOf(obj)]; ok {
			undead = append(undead, fmt.Sprintf("%s: it was told of as deleted at version %s", describe(obj), last.GetResourceVersion()))
		}
	}
	slices.Sort(undead)
	return undead
}

// bury notes a deletion. The caller holds mu.
func (h *History[T]) bury(e typed.Event[T]) {
	if uid := uidOf(e.New); uid != "" && e.Reason != index.OutOfScope && e.Reason != index.Released {
		h.deleted[uid] = e.New
	}
}

// uidOf returns the UID of an object, "" if it has none.
func uidOf[T Object](obj T) types.UID {
	if known, ok := any(obj).(interface{ GetUID() types.UID }); ok {
		return known.GetUID()
	}
	return ""
}
