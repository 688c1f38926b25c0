package adapters_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// handlerCalls is a handler of each kind that writes down its calls.
type handlerCalls struct{ calls []any }

func (c *handlerCalls) add(call ...any) { c.calls = append(c.calls, call) }

func (c *handlerCalls) next() []any {
	calls := c.calls
	c.calls = nil
	return calls
}

func (c *handlerCalls) typed() typed.Handler[*corev1.Pod] {
	return typed.HandlerFuncs[*corev1.Pod]{
		AddFunc:    func(obj *corev1.Pod, initial bool) { c.add(obj, initial) },
		UpdateFunc: func(old, updated *corev1.Pod) { c.add(old, updated) },
		DeleteFunc: func(deleted typed.Deleted[*corev1.Pod]) { c.add(deleted) },
	}
}

func (c *handlerCalls) untyped() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(obj any, initial bool) { c.add(obj, initial) },
		UpdateFunc: func(old, updated any) { c.add(old, updated) },
		DeleteFunc: func(obj any) { c.add(obj) },
	}
}

func (c *handlerCalls) clientGo() cache.TypedResourceEventHandler[*corev1.Pod] {
	return cache.TypedResourceEventHandlerDetailedFuncs[*corev1.Pod]{
		AddFunc:    func(obj *corev1.Pod, initial bool) { c.add(obj, initial) },
		UpdateFunc: func(old, updated *corev1.Pod) { c.add(old, updated) },
		DeleteFunc: func(obj cache.DeletedObject[*corev1.Pod]) { c.add(obj) },
	}
}

func handlerDeleted(pod *corev1.Pod, reason index.Reason) typed.Deleted[*corev1.Pod] {
	return typed.Deleted[*corev1.Pod]{Key: index.KeyOf(pod), Object: pod, Old: pod, Reason: reason}
}

// TestReleasedIsNoDeletion: handlers of client-go receive no event for an object that now belongs
// to another process, since they would take it for deleted.
func TestReleasedIsNoDeletion(t *testing.T) {
	c := &handlerCalls{}
	for _, h := range []typed.Handler[*corev1.Pod]{adapters.Handler[*corev1.Pod](c.untyped()), adapters.TypedHandler(c.clientGo())} {
		h.OnDelete(handlerDeleted(sharedPod("a", 1), index.Released))
		assert.Empty(t, c.next())
	}
}

func TestHandlerMakesTombstonesAsClientGoDoes(t *testing.T) {
	pod, newer := sharedPod("a", 1), sharedPod("a", 2)
	tombstone := cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: pod}

	c := &handlerCalls{}
	h := adapters.Handler[*corev1.Pod](c.untyped())
	h.OnAdd(pod, true)
	h.OnUpdate(pod, newer)
	h.OnDelete(handlerDeleted(pod, index.Watched))
	assert.Equal(t, []any{[]any{pod, true}, []any{pod, newer}, []any{pod}}, c.next())
	for _, reason := range []index.Reason{index.Relisted, index.Recreated, index.OutOfScope} {
		h.OnDelete(handlerDeleted(pod, reason))
		assert.Equal(t, []any{[]any{tombstone}}, c.next(), reason)
	}

	h = adapters.TypedHandler(c.clientGo())
	h.OnAdd(pod, true)
	h.OnUpdate(pod, newer)
	h.OnDelete(handlerDeleted(pod, index.Watched))
	h.OnDelete(handlerDeleted(pod, index.Relisted))
	assert.Equal(t, []any{
		[]any{pod, true}, []any{pod, newer},
		[]any{cache.DeletedObject[*corev1.Pod]{OptionalObj: pod}},
		[]any{cache.DeletedObject[*corev1.Pod]{OptionalObj: pod, FinalStateUnknown: &tombstone}},
	}, c.next())
}

func TestResourceEventHandlerResolvesTombstones(t *testing.T) {
	pod, newer := sharedPod("a", 1), sharedPod("a", 2)
	named := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}
	nothing := cache.DeletedFinalStateUnknown{Key: "ns/a"}
	tombstone := cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: pod}
	want := []any{
		[]any{pod, true}, []any{pod, newer},
		[]any{handlerDeleted(pod, index.Watched)}, []any{handlerDeleted(pod, index.Relisted)}, []any{handlerDeleted(named, index.Relisted)},
	}

	c := &handlerCalls{}
	untyped := adapters.ResourceEventHandler(c.typed())
	untyped.OnAdd(pod, true)
	untyped.OnUpdate(pod, newer)
	untyped.OnDelete(pod)
	untyped.OnDelete(tombstone)
	untyped.OnDelete(nothing)
	assert.Equal(t, want, c.next())

	clientGo := adapters.TypedResourceEventHandler(c.typed())
	clientGo.OnAdd(pod, true)
	clientGo.OnUpdate(pod, newer)
	clientGo.OnDelete(cache.DeletedObject[*corev1.Pod]{OptionalObj: pod})
	clientGo.OnDelete(cache.DeletedObject[*corev1.Pod]{OptionalObj: pod, FinalStateUnknown: &tombstone})
	clientGo.OnDelete(cache.DeletedObject[*corev1.Pod]{FinalStateUnknown: &nothing})
	assert.Equal(t, want, c.next())
}

// handlerProjection is an object that cannot be made of a name.
type handlerProjection struct{ name string }

func (o handlerProjection) GetName() string      { return o.name }
func (o handlerProjection) GetNamespace() string { return "" }

func TestResourceEventHandlerReportsOmissions(t *testing.T) {
	failures := reported.since()
	pod, node := sharedPod("a", 1), &corev1.Node{}
	c := &handlerCalls{}
	h := adapters.ResourceEventHandler(c.typed())
	h.OnAdd(node, false)
	h.OnAdd(nil, false)
	h.OnAdd((*corev1.Pod)(nil), false)
	h.OnUpdate(node, pod)
	h.OnUpdate(pod, node)
	h.OnDelete(node)
	h.OnDelete(&cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: pod}) // which client-go does not send
	h.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: node})
	h.OnDelete(cache.DeletedFinalStateUnknown{Key: "a/b/c"})
	h.OnDelete(cache.DeletedFinalStateUnknown{})
	adapters.TypedResourceEventHandler(c.typed()).OnDelete(cache.DeletedObject[*corev1.Pod]{})
	assert.Empty(t, c.next())
	errs := failures()
	require.Len(t, errs, 11)
	assert.EqualError(t, errs[0], "handler typed.HandlerFuncs[*k8s.io/api/core/v1.Pod]: addition was left out: type is *v1.Node, want *v1.Pod")
	assert.ErrorContains(t, errs[2], "object is a nil *v1.Pod")

	var got []handlerProjection
	projections := adapters.ResourceEventHandler(typed.HandlerFuncs[handlerProjection]{
		DeleteFunc: func(d typed.Deleted[handlerProjection]) { got = append(got, d.Object) },
	})
	projections.OnDelete(cache.DeletedFinalStateUnknown{Key: "x"})
	projections.OnDelete(cache.DeletedFinalStateUnknown{Key: "x", Obj: handlerProjection{"x"}})
	assert.Equal(t, []handlerProjection{{"x"}}, got)
	assert.ErrorContains(t, failures()[11], `the last state of object "x" is not known`)
}

func TestResourceEventHandlerMakesUnstructuredObjectsOfNames(t *testing.T) {
	var got index.Key
	h := adapters.ResourceEventHandler(typed.HandlerFuncs[*unstructured.Unstructured]{
		DeleteFunc: func(d typed.Deleted[*unstructured.Unstructured]) { got = index.KeyOf(d.Object) },
	})
	h.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns/a"})
	assert.Equal(t, index.Key{Namespace: "ns", Name: "a"}, got)
}

// There and back again gives what there was.
func TestHandlersAreUnwrapped(t *testing.T) {
	c := &sharedCalls{}
	untyped := &cache.FilteringResourceEventHandler{}
	clientGo := &cache.TypedFilteringResourceEventHandler[*corev1.Pod]{}
	assert.Same(t, c, adapters.Handler[*corev1.Pod](adapters.ResourceEventHandler[*corev1.Pod](c)))
	assert.Same(t, c, adapters.TypedHandler(adapters.TypedResourceEventHandler[*corev1.Pod](c)))
	assert.Same(t, untyped, adapters.ResourceEventHandler(adapters.Handler[*corev1.Pod](untyped)))
	assert.Same(t, clientGo, adapters.TypedResourceEventHandler(adapters.TypedHandler[*corev1.Pod](clientGo)))

	assert.True(t, adapters.Handler[*corev1.Pod](nil) == nil)
	assert.True(t, adapters.TypedHandler[*corev1.Pod](nil) == nil)
	assert.True(t, adapters.ResourceEventHandler[*corev1.Pod](nil) == nil)
	assert.True(t, adapters.TypedResourceEventHandler[*corev1.Pod](nil) == nil)
}

// A client-go handler can be added to a typed informer unchanged.
func ExampleHandler() {
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { fmt.Println("add", obj.(*corev1.Pod).Name) },
		DeleteFunc: func(obj any) {
			if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				fmt.Println("delete", tombstone.Key, "some time ago")
			}
		},
	}
	h := adapters.Handler[*corev1.Pod](handler) // for pods.Handle(h)

	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0"}}
	h.OnAdd(pod, false)
	h.OnDelete(typed.Deleted[*corev1.Pod]{Key: index.KeyOf(pod), Object: pod, Old: pod, Reason: index.Relisted})
	// Output:
	// add web-0
	// delete default/web-0 some time ago
}

// A typed handler can be added to a shared informer unchanged.
func ExampleResourceEventHandler() {
	h := adapters.ResourceEventHandler(typed.HandlerFuncs[*corev1.Pod]{
		AddFunc:    func(pod *corev1.Pod, initial bool) { fmt.Println("add", pod.Name) },
		DeleteFunc: func(d typed.Deleted[*corev1.Pod]) { fmt.Println("delete", d.Key, d.Reason) },
	}) // for informer.AddEventHandler(h)

	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0"}}
	h.OnAdd(pod, false)
	h.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/web-0", Obj: pod})
	// Output:
	// add web-0
	// delete default/web-0 Relisted
}
