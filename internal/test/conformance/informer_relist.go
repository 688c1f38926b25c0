package conformance

import (
	"fmt"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// testInformerRelist cuts informers off from the server while objects change, then checks that
// their relist delivers only the difference.
func testInformerRelist[T object](s *scene, w *way[T]) {
	for _, name := range []string{"kept", "changed", "removed", "recreated"} {
		s.create(name)
	}
	kept, changed, removed, recreated, added := s.key("kept"), s.key("changed"), s.key("removed"), s.key("recreated"), s.key("added")
	before := s.written(0)
	byDefault := observe(s, w, scope{})
	recreating := observe(s, w, scope{options: []typed.Option{typed.WithRecreation()}})
	changedOnly := observe(s, w, scope{options: []typed.Option{typed.WithChangedOnly()}})
	observers := []*observed[T]{byDefault, recreating, changedOnly}
	for _, o := range observers {
		o.gate.close()
	}
	s.change("changed", "unseen")
	changedAt := s.change("changed", "seen")
	s.delete("removed")
	s.delete("recreated")
	s.create("recreated")
	recreatedAt := s.change("recreated", "seen")
	s.create("ghost")
	s.delete("ghost")
	addedAt := s.create("added")
	// The second list need not be newer than the first: a server whose cache has
	// not caught up would leave the last changes to the watch.
	s.settle()
	for _, o := range observers {
		o.gate.open(true)
	}
	for _, o := range observers {
		o.finish()
	}

	difference := []string{
		"Relisted " + eventText(index.Deleted, removed, ""),
		"Relisted " + eventText(index.Updated, changed, changedAt),
		"Relisted " + eventText(index.Added, added, addedAt),
	}
	keptToo := "Relisted " + eventText(index.Updated, kept, before[0].version)
	replaced := "Relisted " + eventText(index.Updated, recreated, recreatedAt)
	byDefault.checkRelisted(append([]string{keptToo, replaced}, difference...)...)
	changedOnly.checkRelisted(append([]string{replaced}, difference...)...)
	recreating.checkRelisted(append([]string{
		keptToo,
		"Recreated " + eventText(index.Deleted, recreated, ""),
		"Recreated " + eventText(index.Added, recreated, recreatedAt),
	}, difference...)...)
	for _, e := range byDefault.streamed.all() {
		if e.Type == index.Updated && e.Key() == recreated {
			assert.NotEqual(s, e.Old.GetUID(), e.New.GetUID())
		}
	}
}

// checkRelisted checks, once it has finished, the events that a relist has delivered: deletions
// first.
func (o *observed[T]) checkRelisted(want ...string) {
	o.scene.Helper()
	var words []string
	others := false
	for _, e := range o.streamed.all() {
		if e.Reason != index.Relisted && e.Reason != index.Recreated || o.scene.isLast(e.Key()) {
			continue
		}
		words = append(words, fmt.Sprintf("%v %s", e.Reason, wordsOf(e)))
		if e.Reason == index.Relisted {
			assert.False(o.scene, others && e.Type == index.Deleted, "%s comes late", words)
			others = others || e.Type != index.Deleted
		}
	}
	assert.ElementsMatch(o.scene, want, words)
	assert.ElementsMatch(o.scene, wordsOfAll(o.scene, o.streamed.all()), wordsOfAll(o.scene, o.handled.all()))
}

// testInformerCut ends the watch repeatedly: each new one continues from the last version.
func testInformerCut[T object](s *scene, w *way[T]) {
	s.create("a")
	s.create("b")
	o := observe(s, w, scope{})
	for i := range 4 {
		// A watch without an event is suspicious to the Reflector, which lists again.
		require.NoError(s, o.informer.WaitForResourceVersion(s.ctx, s.change("a", fmt.Sprint(i))))
		o.gate.cut()
		s.change("b", fmt.Sprint(i))
		s.create(fmt.Sprintf("c%d", i))
	}
	s.delete("c0")
	o.finish()
	o.checkOrder()
	_, relisted := o.streamed.history.Events()
	assert.Zero(s, relisted)
}
