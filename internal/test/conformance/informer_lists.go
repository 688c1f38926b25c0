package conformance

import (
	"fmt"
	"sync"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/lister"
	"github.com/kubetyped/informer/typed"
)

// testInformerInitialList: the objects that are there come as initial additions,
// each once, and Synced closes.
func testInformerInitialList[T object](s *scene, w *way[T]) {
	versions := map[index.Key]string{}
	for i := range 5 {
		name := fmt.Sprintf("a%d", i)
		versions[s.key(name)] = s.create(name)
	}
	versions[s.key("a3")] = s.change("a3", "once")
	o := observe(s, w, scope{})
	assert.Equal(s, len(versions), len(w.own(s, o.informer.List())))
	for _, t := range []*tape[T]{o.handled, o.streamed} {
		seen := map[index.Key]string{}
		for _, e := range t.all() {
			assert.Equal(s, index.Added, e.Type)
			assert.Equal(s, index.Initial, e.Reason)
			assert.NotContains(s, seen, e.Key())
			seen[e.Key()] = e.New.GetResourceVersion()
		}
		assert.Equal(s, versions, seen)
	}
	lists, watches := o.gate.counts()
	if w.streamed && !s.rig.WithoutWatchList {
		assert.Zero(s, lists, "the list comes in the watch")
		assert.Equal(s, 1, watches)
	} else {
		assert.Equal(s, 1, lists)
	}
	o.finish()
	o.checkOrder()
}

// testInformerEmptyList: no objects are a list too.
func testInformerEmptyList[T object](s *scene, w *way[T]) {
	o := observe(s, w, scope{})
	assert.Zero(s, o.informer.Len())
	assert.Empty(s, o.handled.all())
	assert.NotEmpty(s, o.informer.ResourceVersion())
	s.create("a")
	// Until now nothing showed that the event stream had begun.
	_, ok := o.streamed.wait(s.ctx, func(events []typed.Event[T]) bool { return len(events) > 0 })
	require.True(s, ok, "no event")
	s.delete("a")
	o.finish()
}

// testInformerIndexes: indexes and listers agree with the store, after every kind
// of change, whether they were added before or later.
func testInformerIndexes[T object](s *scene, w *way[T]) {
	for i := range 6 {
		s.create(fmt.Sprintf("a%d", i), "app", fmt.Sprint(i%2))
	}
	o := observe(s, w, scope{})
	byApp := func(obj T) (string, bool) { app, ok := obj.GetLabels()["app"]; return app, ok }
	early, late := index.Single("early", byApp), index.Single("late", byApp)
	require.NoError(s, o.informer.AddIndexes(early))
	s.relabel("a0", "app", "1")
	s.change("a1", "once")
	s.delete("a2")
	require.NoError(s, o.informer.WaitForResourceVersion(s.ctx, s.create("b", "app", "0")))
	require.NoError(s, o.informer.AddIndexes(late))
	s.delete("b")
	s.relabel("a3", "app", "2")
	s.create("c", "app", "2")
	require.NoError(s, o.informer.WaitForResourceVersion(s.ctx, s.relabel("a5", "app", "0")))

	everything, inNamespace := lister.New(o.informer), lister.New(o.informer).Namespace(s.namespace)
	for app, want := range map[string][]string{"0": {"a4", "a5"}, "1": {"a0", "a1"}, "2": {"a3", "c"}, "3": {}} {
		var keys []index.Key
		for _, name := range want {
			keys = append(keys, s.key(name))
		}
		selector := labels.SelectorFromSet(labels.Set{sceneLabel: s.label, "app": app})
		listed, err := everything.List(selector)
		require.NoError(s, err)
		here, err := inNamespace.List(selector)
		require.NoError(s, err)
		for what, found := range map[string][]T{
			"an index": early.Get(app), "a late index": late.Get(app), "the lister": listed, "the lister of a namespace": here,
		} {
			assert.ElementsMatch(s, keys, keysOf(found), "app=%s in %s", app, what)
		}
	}
	got, err := inNamespace.Get(s.key("a5").Name)
	require.NoError(s, err)
	assert.Equal(s, "0", got.GetLabels()["app"])
	o.finish()
	o.checkOrder()
}

func keysOf[T object](objects []T) []index.Key {
	var keys []index.Key
	for _, obj := range objects {
		keys = append(keys, index.KeyOf(obj))
	}
	return keys
}

// testInformerLateHandler: a handler that is added while objects change gets those
// that are there, and then every change.
func testInformerLateHandler[T object](s *scene, w *way[T]) {
	const objects, rounds = 4, 8
	for i := range objects {
		s.create(fmt.Sprintf("a%d", i))
	}
	o := observe(s, w, scope{})
	var writing sync.WaitGroup
	defer writing.Wait()
	writing.Go(func() {
		for round := range rounds {
			for i := range objects {
				s.change(fmt.Sprintf("a%d", i), fmt.Sprint(round))
			}
		}
	})
	_, ok := o.streamed.wait(s.ctx, func(events []typed.Event[T]) bool { return len(events) >= 2*objects })
	require.True(s, ok, "objects do not change")
	late, registration := o.handle("late handler")
	o.late = append(o.late, late, o.stream("late event stream"))
	require.NoError(s, registration.WaitForSync(s.ctx))
	writing.Wait()
	o.finish()
	o.checkOrder()
	for _, t := range o.late {
		events := t.all()
		initial := map[index.Key]bool{}
		for n, e := range events {
			if e.Reason == index.Initial {
				assert.False(s, initial[e.Key()], "%v comes twice", e.Key())
				assert.Less(s, n, objects, "the objects that are there come first")
				initial[e.Key()] = true
			}
		}
		assert.Len(s, initial, objects)
		// After the initial objects, it receives the same events as others.
		words := wordsOfAll(s, events)
		all := wordsOfAll(s, o.streamed.all())
		assert.Equal(s, all[len(all)-len(words):], words, t.name)
	}
}
