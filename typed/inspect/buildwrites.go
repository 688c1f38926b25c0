package inspect

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// writesOf returns the counts of the answers to own writes.
func writesOf(part Writes, ids identities) snapshot.Writes {
	status := part.Status()
	name := cmp.Or(status.Server, "no API server yet")
	w := snapshot.Writes{
		ID: ids.of("writes", name), Name: name,
		Taken: status.Taken, Ignored: status.Ignored, Late: status.Late, LeftOut: []snapshot.LeftOut{},
	}
	for _, reason := range slices.Sorted(maps.Keys(status.LeftOut)) {
		w.LeftOut = append(w.LeftOut, snapshot.LeftOut{Reason: reason, Answers: status.LeftOut[reason]})
	}
	return w
}
