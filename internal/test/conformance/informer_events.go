package conformance

import (
	"fmt"
	"slices"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// eventText returns an event in words. The version of a deletion, or of the update that marks
// an object to be deleted, is "": the client that deletes does not know it.
func eventText(kind index.EventType, key index.Key, version string) string {
	switch {
	case kind == index.Deleted:
		return fmt.Sprintf("%v %v", kind, key)
	case version == "":
		return fmt.Sprintf("%v %v to be deleted", kind, key)
	default:
		return fmt.Sprintf("%v %v@%s", kind, key, version)
	}
}

func wordsOf[T object](e typed.Event[T]) string {
	version := e.New.GetResourceVersion()
	if e.Type == index.Updated && e.New.GetDeletionTimestamp() != nil && e.Old.GetDeletionTimestamp() == nil {
		version = ""
	}
	return eventText(e.Type, e.Key(), version)
}

// wordsOfAll returns the events of a scene's objects, those of the first list left
// out.
func wordsOfAll[T object](s *scene, events []typed.Event[T]) []string {
	var words []string
	for _, e := range events {
		if e.Reason != index.Initial && e.New.GetLabels()[sceneLabel] == s.label {
			words = append(words, wordsOf(e))
		}
	}
	return words
}

// own returns the objects of a scene, in a form to compare.
func (w *way[T]) own(s *scene, objects []T) []T {
	var own []T
	for _, obj := range objects {
		if obj.GetLabels()[sceneLabel] != s.label {
			continue
		}
		if w.plain != nil {
			obj = w.plain(obj)
		}
		own = append(own, obj)
	}
	return own
}

// concerned returns the writes since it had synced, in its namespace.
func (o *observed[T]) concerned() []write {
	return slices.DeleteFunc(slices.Clone(o.scene.written(o.from)), func(w write) bool {
		return o.namespace != "" && o.namespace != w.key.Namespace
	})
}

// checkOrder checks, once it has finished, that the informer has delivered every write, once, in
// order.
func (o *observed[T]) checkOrder() {
	o.scene.Helper()
	var want []string
	for _, w := range o.concerned() {
		want = append(want, eventText(w.kind, w.key, w.version))
	}
	o.checkEvents(want...)
}

// checkEvents checks the events that the informer has delivered since it had synced.
func (o *observed[T]) checkEvents(want ...string) {
	o.scene.Helper()
	for _, t := range []*tape[T]{o.handled, o.streamed} {
		assert.Equal(o.scene, want, wordsOfAll(o.scene, t.all()), "events of the %s", t.name)
	}
}

// checkNothingLost checks that every write was delivered, unless a list replaced it.
func (o *observed[T]) checkNothingLost() {
	o.scene.Helper()
	writes := map[index.Key][]history.Write{}
	for _, w := range o.concerned() {
		if w.version == "" && w.kind != index.Deleted {
			continue // see eventText
		}
		writes[w.key] = append(writes[w.key], history.Write{Version: w.version, Delete: w.kind == index.Deleted})
	}
	for key, w := range writes {
		assert.Empty(o.scene, o.streamed.history.Lost(key, w))
	}
}
