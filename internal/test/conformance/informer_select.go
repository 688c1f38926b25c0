package conformance

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/lister"
)

// testInformerLabelSelector: an object that enters the selection is added, one that leaves it is
// deleted, and others cause no event.
func testInformerLabelSelector[T object](s *scene, w *way[T]) {
	s.create("start", "app", "in")
	s.create("other", "app", "out")
	o := observe(s, w, scope{labels: labels.Set{"app": "in"}})
	a, b := s.key("a"), s.key("b")
	first := s.create("a", "app", "in")
	s.create("b", "app", "out")
	s.change("other", "unseen")
	entered := s.relabel("b", "app", "in")
	left := s.relabel("a", "app", "out")
	s.change("a", "unseen")
	back := s.relabel("a", "app", "in")
	s.delete("a")
	s.relabel("b", "app", "out")
	s.delete("b")
	s.delete("other")
	o.finish()
	want := []string{
		eventText(index.Added, a, first), eventText(index.Added, b, entered), eventText(index.Deleted, a, left), eventText(index.Added, a, back),
	}
	if s.resource.graceful {
		want = append(want, eventText(index.Updated, a, ""))
	}
	want = append(want, eventText(index.Deleted, a, ""), eventText(index.Deleted, b, ""))
	o.checkEvents(append(want, o.lastEvents()...)...)
	for _, e := range o.streamed.all() {
		assert.Equal(s, "in", e.New.GetLabels()["app"], "an object that leaves is reported in its state before")
	}
}

// testInformerFieldSelector does the same with a selector of fields.
func testInformerFieldSelector[T object](s *scene, w *way[T]) {
	s.create("start")
	a, b := s.key("a"), s.key("b")
	if !s.resource.selectsPhase {
		o := observe(s, w, scope{fields: "metadata.name!=" + b.Name})
		first := s.create("a")
		s.create("b")
		second := s.change("a", "seen")
		s.change("b", "unseen")
		s.delete("b")
		o.finish()
		o.checkEvents(append([]string{eventText(index.Added, a, first), eventText(index.Updated, a, second)}, o.lastEvents()...)...)
		return
	}
	o := observe(s, w, scope{fields: "status.phase!=" + string(corev1.PodRunning)})
	first := s.create("a")
	second := s.create("b")
	s.setPhase("a", corev1.PodRunning)
	s.change("a", "unseen")
	third := s.change("b", "seen")
	back := s.setPhase("a", corev1.PodSucceeded)
	s.setPhase("b", corev1.PodRunning)
	s.delete("b")
	o.finish()
	o.checkEvents(append([]string{
		eventText(index.Added, a, first),
		eventText(index.Added, b, second),
		eventText(index.Deleted, a, ""),
		eventText(index.Updated, b, third),
		eventText(index.Added, a, back),
		eventText(index.Deleted, b, ""),
	}, o.lastEvents()...)...)
}

// lastEvents returns the events of the objects that finish makes.
func (o *observed[T]) lastEvents() []string {
	var words []string
	for _, w := range o.scene.written(0) {
		if o.scene.isLast(w.key) {
			words = append(words, eventText(w.kind, w.key, w.version))
		}
	}
	return words
}

// testInformerNamespaces: an informer of one namespace delivers no events of others, and one of
// all namespaces delivers all.
func testInformerNamespaces[T object](s *scene, w *way[T]) {
	if s.resource.clusterScoped {
		s.Skip("the resource has no namespaces")
	}
	other := s.anotherNamespace()
	here, there := s.key("a"), index.Key{Namespace: other, Name: s.key("a").Name}
	s.create("a")
	s.createAt(there, metav1.ObjectMeta{})
	one, all := observe(s, w, scope{}), observe(s, w, scope{everywhere: true})
	s.change("a", "here")
	s.patch(there, metadataOf("annotations", map[string]any{"changed": "there"}))
	s.createAt(index.Key{Namespace: other, Name: "b"}, metav1.ObjectMeta{})
	s.deleteAt(there)
	version := s.create("c")
	for _, o := range []*observed[T]{one, all} {
		require.NoError(s, o.informer.WaitForResourceVersion(s.ctx, version))
		assert.ElementsMatch(s, []index.Key{here, s.key("c")}, keysOf(o.informer.ListNamespace(s.namespace)))
		listed, err := lister.New(o.informer).Namespace(s.namespace).List(labels.Everything())
		require.NoError(s, err)
		assert.Len(s, listed, 2)
	}
	assert.Empty(s, one.informer.ListNamespace(other))
	assert.Equal(s, []index.Key{{Namespace: other, Name: "b"}}, keysOf(all.informer.ListNamespace(other)))

	all.finish()
	all.checkOrder()
	one.finish()
	one.checkOrder()
}
