package mutation

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/typed"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

type expectations struct{ adds int }

type stores struct {
	informer cache.SharedIndexInformer
	private  cache.Store
	clones   cache.Indexer
}

func newStores() *stores {
	s := &stores{private: cache.NewStore(nil)}
	s.clones = cache.NewIndexer(nil, cache.Indexers{"byName": func(obj any) ([]string, error) {
		obj.(*corev1.Pod).Name = "" // want `Name of an object of a cache, the index function's object`
		return nil, nil
	}})
	return s
}

func (s *stores) read() {
	obj, _, _ := s.informer.GetIndexer().GetByKey("ns/web")
	pod := obj.(*corev1.Pod)
	pod.Status.Phase = "" // want `Status.Phase of an object of a cache, Store.GetByKey`
	pod.DeepCopy().Status.Phase = ""
	if e, ok := obj.(*expectations); ok {
		e.adds++
	}
	for _, obj := range s.informer.GetStore().List() {
		if pod, ok := obj.(*corev1.Pod); ok {
			pod.Labels["a"] = "b" // want `Labels.* of an object`
		}
	}
	mine, _, _ := s.private.GetByKey("ns/web")
	mine.(*corev1.Pod).Name = ""
	all, _ := s.clones.ByIndex("byName", "x")
	all[0].(*corev1.Pod).Name = ""
	_ = cache.ListAll(s.informer.GetStore(), labels.Everything(), func(obj any) {
		obj.(*corev1.Pod).Name = "" // want `Name of an object of a cache, the object that ListAll passes`
	})
}

func (s *stores) handlers() {
	_ = s.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			obj.(*corev1.Pod).Labels["a"] = "b" // want `Labels.* of an object of a cache, the handler's object`
			mine := obj.(*corev1.Pod).DeepCopy()
			mine.Labels["a"] = "b"
		},
		UpdateFunc: s.update,
		DeleteFunc: func(obj any) {
			if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = tombstone.Obj
			}
			pod, ok := obj.(*corev1.Pod)
			if ok {
				pod.Name = "" // want `Name of an object`
			}
		},
	})
}

func (s *stores) update(old, updated any) {
	updated.(metav1.Object).SetLabels(nil) // want `Labels of an object`
}

type eventHandler struct{}

func (eventHandler) OnAdd(obj any, initial bool) {
	obj.(*corev1.Pod).Name = "" // want `Name of an object`
}

func create(e event.CreateEvent) bool {
	e.Object.SetLabels(nil) // want `Labels of an object of a cache, the event's object`
	e.Object = nil
	return true
}

func generic(e event.GenericEvent) bool {
	e.Object.SetLabels(nil)
	return true
}

var _ = handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, obj client.Object) []reconcile.Request {
	obj.SetLabels(nil) // want `Labels of an object`
	return nil
})

func runtimeClient(ctx context.Context, c client.Client) {
	var pod corev1.Pod
	_ = c.Get(ctx, client.ObjectKey{}, &pod)
	pod.Labels["a"] = "b"
	_ = c.Get(ctx, client.ObjectKey{}, &pod, client.UnsafeDisableDeepCopy)
	pod.Name = "x"
	pod.Labels["a"] = "b" // want `Labels.* of an object of a cache, Reader.Get with UnsafeDisableDeepCopy`
	var pods corev1.PodList
	_ = c.List(ctx, &pods, client.UnsafeDisableDeepCopy)
	for i := range pods.Items {
		pods.Items[i].Name = "x"
		pods.Items[i].Labels["a"] = "b" // want `Labels.* of an object`
	}
}

func ours(pods *typed.Informer[*corev1.Pod]) any {
	if pod, ok := pods.Get("ns/web"); ok {
		pod.Name = "x" // want `Name of an object of a cache, Informer.Get`
	}
	for _, pod := range pods.List() {
		pod.Name = "x" // want `Name of an object`
		pod.DeepCopy().Name = "x"
	}
	for pod := range pods.All() {
		pod.Name = "x" // want `Name of an object of a cache, Informer.All`
	}
	return typed.HandlerFuncs[*corev1.Pod]{
		AddFunc: func(pod *corev1.Pod, initial bool) {
			pod.Name = "x" // want `Name of an object`
		},
		DeleteFunc: func(deleted typed.Deleted[*corev1.Pod]) {
			deleted.Key = "x"
			deleted.Object.Name = "x" // want `Name of an object`
		},
	}
}

func indexed(indexer client.FieldIndexer) error {
	return indexer.IndexField(nil, &corev1.Pod{}, "node", func(obj client.Object) []string {
		obj.(*corev1.Pod).Labels["a"] = "b" // want `Labels.* of an object`
		return nil
	})
}

func clientGoTyped(indexer cache.TypedIndexer[*corev1.Pod]) any {
	pods, _ := indexer.ByTypedIndex("node", "a")
	for _, pod := range pods {
		pod.Labels["a"] = "b" // want `Labels.* of an object`
	}
	_ = cache.TypedIndexers[*corev1.Pod]{"node": func(pod *corev1.Pod) ([]string, error) {
		pod.Name = "x" // want `Name of an object`
		return nil, nil
	}}
	return cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{
		AddFunc: func(pod *corev1.Pod) {
			pod.Name = "x" // want `Name of an object`
		},
		UpdateFunc: func(old, updated *corev1.Pod) {
			updated = updated.DeepCopy()
			updated.Name = old.Name
		},
		DeleteFunc: func(deleted cache.DeletedObject[*corev1.Pod]) {
			deleted.OptionalObj.Name = "x" // want `Name of an object`
		},
	}
}
