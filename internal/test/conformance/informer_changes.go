package conformance

import (
	"fmt"
	"sync"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// testInformerChanges: creations, updates and deletions come in order, each once, including
// those of an object that is recreated.
func testInformerChanges[T object](s *scene, w *way[T]) {
	s.create("a")
	s.create("b")
	o := observe(s, w, scope{})
	for i := range 5 {
		s.change("a", fmt.Sprint(i))
		s.create(fmt.Sprintf("c%d", i))
		s.change("b", fmt.Sprint(i))
	}
	s.delete("c1")
	s.delete("a")
	s.create("a")
	s.change("a", "again")
	s.delete("c0")
	o.finish()
	o.checkOrder()
	for _, e := range o.streamed.all() {
		if e.Reason != index.Initial {
			assert.Equal(s, index.Watched, e.Reason, e.Key())
		}
	}
}

// testInformerReadYourWrites: once the informer has reached the version that a
// write returned, reads show the write.
func testInformerReadYourWrites[T object](s *scene, w *way[T]) {
	s.create("start")
	o := observe(s, w, scope{})
	sees := func(name, version string) {
		if assert.NoError(s, o.informer.WaitForResourceVersion(s.ctx, version)) {
			obj, ok := o.informer.Get(s.key(name))
			assert.True(s, ok && obj.GetResourceVersion() == version, "%s at version %s: %v", name, version, obj)
			assert.GreaterOrEqual(s, s.version(o.informer.ResourceVersion()), s.version(version))
		}
	}
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			name := fmt.Sprintf("w%d", w)
			sees(name, s.create(name))
			for i := range 4 {
				sees(name, s.change(name, fmt.Sprint(i)))
			}
		})
	}
	writers.Wait()
	s.delete("w1")
	sees("start", s.change("start", "after the deletion"))
	_, ok := o.informer.Get(s.key("w1"))
	assert.False(s, ok, "it was deleted before")
	o.finish()
}

// testInformerDeleteCollection: the objects of a collection go one by one.
func testInformerDeleteCollection[T object](s *scene, w *way[T]) {
	var kept, gone []index.Key
	for i := range 4 {
		s.create(fmt.Sprintf("kept%d", i), "app", "kept")
		s.create(fmt.Sprintf("gone%d", i), "app", "gone")
		kept, gone = append(kept, s.key(fmt.Sprintf("kept%d", i))), append(gone, s.key(fmt.Sprintf("gone%d", i)))
	}
	o := observe(s, w, scope{})
	err := s.in(gone[0]).DeleteCollection(s.ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: sceneLabel + "=" + s.label + ",app=gone"})
	require.NoError(s, err)
	for _, key := range gone {
		s.note(key, index.Deleted, "")
	}
	o.finish()
	assert.Subset(s, keysOf(o.handled.history.Objects()), kept)
	for _, t := range []*tape[T]{o.handled, o.streamed} {
		var deleted []index.Key
		for _, e := range t.all() {
			if e.Type == index.Deleted {
				deleted = append(deleted, e.Key())
			}
		}
		assert.ElementsMatch(s, gone, deleted, t.name)
	}
}

// testInformerStatus: a write of the status is an update like any other.
func testInformerStatus[T object](s *scene, w *way[T]) {
	if !s.resource.status {
		s.Skip("the resource has no status")
	}
	s.create("a")
	o := observe(s, w, scope{})
	s.setPhase("a", corev1.PodRunning)
	s.setPhase("a", corev1.PodSucceeded)
	o.finish()
	o.checkOrder()
	if w.phase == nil {
		return
	}
	var phases []string
	for _, e := range o.streamed.all() {
		if e.Type == index.Updated {
			phases = append(phases, w.phase(e.New))
		}
	}
	assert.Equal(s, []string{string(corev1.PodRunning), string(corev1.PodSucceeded)}, phases)
}

// testInformerFinalizers: the deletion of an object with finalizers is an update
// first.
func testInformerFinalizers[T object](s *scene, w *way[T]) {
	key := s.key("a")
	s.createAt(key, metav1.ObjectMeta{Finalizers: []string{"conformance.kubetyped.io/hold"}})
	o := observe(s, w, scope{})
	require.NoError(s, s.in(key).Delete(s.ctx, key.Name, metav1.DeleteOptions{}))
	s.note(key, index.Updated, "")
	events, ok := o.streamed.wait(s.ctx, func(events []typed.Event[T]) bool { return len(events) == 2 })
	require.True(s, ok, "an event shows that the object is to go")
	assert.NotNil(s, events[1].New.GetDeletionTimestamp())
	_, there := o.informer.Get(key)
	assert.True(s, there)
	s.change("a", "about to go")
	s.patch(key, metadataOf("finalizers", nil))
	o.finish()
	o.checkOrder()
	_, there = o.informer.Get(key)
	assert.False(s, there)
}
