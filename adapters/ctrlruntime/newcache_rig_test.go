package ctrlruntime_test

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kubetyped/informer/apitest"
)

// widget is a custom resource.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec widgetSpec `json:"spec"`
}

type widgetSpec struct {
	Size  int               `json:"size"`
	Parts map[string]string `json:"parts,omitempty"`
}

func (w *widget) DeepCopyObject() runtime.Object {
	own := &widget{TypeMeta: w.TypeMeta, Spec: widgetSpec{w.Spec.Size, maps.Clone(w.Spec.Parts)}}
	w.ObjectMeta.DeepCopyInto(&own.ObjectMeta)
	return own
}

type widgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []widget `json:"items"`
}

func (l *widgetList) DeepCopyObject() runtime.Object {
	own := &widgetList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for i := range l.Items {
		own.Items = append(own.Items, *l.Items[i].DeepCopyObject().(*widget))
	}
	return own
}

var widgetKind = schema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Widget"}

// withWidgets is client-go's scheme with custom resources.
var withWidgets = func() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := scheme.AddToScheme(s); err != nil {
		panic(err)
	}
	s.AddKnownTypeWithName(widgetKind, &widget{})
	s.AddKnownTypeWithName(widgetKind.GroupVersion().WithKind("WidgetList"), &widgetList{})
	metav1.AddToGroupVersion(s, widgetKind.GroupVersion())
	return s
}()

func startWithWidgets(t *testing.T, opts ...apitest.Option) *apitest.Server {
	t.Helper()
	opts = append(opts, apitest.WithResources(apitest.Resource{
		GroupVersionResource: widgetKind.GroupVersion().WithResource("widgets"), Kind: widgetKind.Kind, Type: (*widget)(nil),
	}))
	return apitest.Start(t, opts...)
}

func metadataOf(kind schema.GroupVersionKind) client.Object {
	obj := &metav1.PartialObjectMetadata{}
	obj.SetGroupVersionKind(kind)
	return obj
}

func unstructuredOf(kind schema.GroupVersionKind) client.Object {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(kind)
	return obj
}

var podKind = corev1.SchemeGroupVersion.WithKind("Pod")

// forms are the ways in which a cache can have objects.
var forms = map[string]client.Object{
	"typed":               &corev1.Pod{},
	"unstructured":        unstructuredOf(podKind),
	"metadata":            metadataOf(podKind),
	"typed custom":        &widget{},
	"unstructured custom": unstructuredOf(widgetKind),
	"metadata custom":     metadataOf(widgetKind),
	"cluster-scoped":      &corev1.Node{},
}

// watched is a running cache with all events of its handlers.
type watched struct {
	cache.Cache

	mu     sync.Mutex
	events map[string]runtime.Object // guarded by mu; by form, state, key and version
	seen   map[string]chan struct{}  // by form and name of a marker; closed when it is there
}

// startCache runs a cache, with a handler for each form, until the test ends.
func startCache(t *testing.T, newCache cache.NewCacheFunc, config *rest.Config, o cache.Options, markers ...string) *watched {
	t.Helper()
	o.Scheme = withWidgets
	made, err := newCache(config, o)
	require.NoError(t, err)
	w := &watched{Cache: made, events: map[string]runtime.Object{}, seen: map[string]chan struct{}{}}
	for form := range forms {
		for _, marker := range markers {
			w.seen[form+" "+marker] = make(chan struct{})
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(t, made.Start(ctx)) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	for form, example := range forms {
		informer, err := made.GetInformer(ctx, example.DeepCopyObject().(client.Object), cache.BlockUntilSynced(false))
		require.NoError(t, err)
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { w.note(form, "added", obj) },
			UpdateFunc: func(_, obj any) { w.note(form, "updated", obj) },
			DeleteFunc: func(obj any) { w.note(form, "deleted", obj) },
		})
		require.NoError(t, err)
	}
	require.True(t, made.WaitForCacheSync(ctx))
	return w
}

func (w *watched) note(form, what string, of any) {
	obj, ok := of.(client.Object)
	if !ok {
		panic(fmt.Sprintf("%s %s: a %T", form, what, of))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	state := "there"
	if what == "deleted" {
		state = what
	}
	// A list may deliver earlier events again, and a watch may not.
	event := fmt.Sprintf("%s: %s %s/%s %s", form, state, obj.GetNamespace(), obj.GetName(), obj.GetResourceVersion())
	if w.events[event] == nil { // later ones, as of a list, may come while the test reads the events
		own := obj.DeepCopyObject()
		withoutKind(form, own)
		w.events[event] = own
	}
	if seen := w.seen[form+" "+obj.GetName()]; seen != nil && what == "added" {
		close(seen)
	}
}

// await waits until all handlers have received a marker.
func (w *watched) await(t *testing.T, marker string) {
	t.Helper()
	for form := range forms {
		select {
		case <-w.seen[form+" "+marker]:
		case <-time.After(30 * time.Second):
			require.Fail(t, "a marker does not come", "%s %s", form, marker)
		}
	}
}

// all returns what has happened.
func (w *watched) all() map[string]runtime.Object {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.events)
}

// withoutKind takes from a custom resource the kind that it has in lists, and not in
// watches: caches that are cut off at one moment need not list again both.
func withoutKind(form string, obj runtime.Object) {
	if form == "typed custom" {
		obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
}

// lists returns what is read of all forms.
func (w *watched) lists(t *testing.T) map[string]runtime.Object {
	t.Helper()
	read := map[string]runtime.Object{}
	for form, example := range forms {
		var list client.ObjectList
		kind, err := apiutil.GVKForObject(example, withWidgets)
		require.NoError(t, err)
		kind.Kind += "List"
		switch example.(type) {
		case *unstructured.Unstructured:
			list = &unstructured.UnstructuredList{}
			list.GetObjectKind().SetGroupVersionKind(kind)
		case *metav1.PartialObjectMetadata:
			list = &metav1.PartialObjectMetadataList{}
			list.GetObjectKind().SetGroupVersionKind(kind)
		default:
			made, err := withWidgets.New(kind)
			require.NoError(t, err)
			list = made.(client.ObjectList)
		}
		require.NoError(t, w.List(t.Context(), list))
		require.NoError(t, meta.EachListItem(list, func(item runtime.Object) error {
			obj := item.(client.Object)
			read[fmt.Sprintf("%s: %s/%s", form, obj.GetNamespace(), obj.GetName())] = obj
			return nil
		}))
	}
	return read
}
