package benchmarks

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/lister"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// side is one of those that are compared: a way to make an informer. With
// indexed, the informer has indexes by node and by the label app; without,
// what a lister needs. This project's always has an index by namespace.
type side struct {
	impl string
	make func(tb testing.TB, from cache.ListerWatcher, indexed bool) informer
}

// informer is what the sides have in common.
type informer interface {
	// handle adds a handler. The channel is closed when it has been called for
	// all objects of the first list.
	handle(tb testing.TB, h calls) (synced <-chan struct{})
	// run runs the informer until ctx ends.
	run(ctx context.Context) error
	// list returns the Pods of a namespace as a lister does.
	list(namespace string) ([]*corev1.Pod, error)
}

// calls is what a handler does; nil means nothing.
type calls struct {
	add    func(pod *corev1.Pod)
	update func(old, updated *corev1.Pod)
}

var (
	typedSide         = side{"typed", newTyped}
	clientGoSide      = side{"client-go", newClientGo}
	clientGoTypedSide = side{"client-go-typed", newClientGoTyped}

	twoSides = []side{typedSide, clientGoSide}
	allSides = []side{typedSide, clientGoSide, clientGoTypedSide}
)

type typedInformer struct {
	*typed.Informer[*corev1.Pod]
	pods *lister.Lister[*corev1.Pod]
}

func newTyped(tb testing.TB, from cache.ListerWatcher, indexed bool) informer {
	if indexed {
		return newTypedWith(tb, from, indexByNode(), indexByApp())
	}
	return newTypedWith(tb, from)
}

func newTypedWith(tb testing.TB, from cache.ListerWatcher, indexes ...index.Definition[*corev1.Pod]) informer {
	i := typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](from))
	require.NoError(tb, i.AddIndexes(indexes...))
	return &typedInformer{Informer: i, pods: lister.New(i)}
}

func (i *typedInformer) handle(tb testing.TB, h calls) <-chan struct{} {
	funcs := typed.HandlerFuncs[*corev1.Pod]{UpdateFunc: h.update}
	if h.add != nil {
		funcs.AddFunc = func(pod *corev1.Pod, _ bool) { h.add(pod) }
	}
	registration, err := i.Handle(funcs)
	require.NoError(tb, err)
	return registration.Synced()
}

func (i *typedInformer) run(ctx context.Context) error { return i.Run(ctx) }

func (i *typedInformer) list(namespace string) ([]*corev1.Pod, error) {
	return i.pods.Namespace(namespace).List(labels.Everything())
}

func indexByNode() *index.Index[string, *corev1.Pod] {
	return index.Single("node", func(pod *corev1.Pod) (string, bool) {
		return pod.Spec.NodeName, pod.Spec.NodeName != ""
	})
}

func indexByApp() *index.Index[string, *corev1.Pod] {
	return index.Single("app", func(pod *corev1.Pod) (string, bool) {
		app, ok := pod.Labels["app"]
		return app, ok
	})
}

type clientGoInformer struct {
	cache.SharedIndexInformer
	pods corev1listers.PodLister
}

func newClientGo(_ testing.TB, from cache.ListerWatcher, indexed bool) informer {
	return newShared(cache.NewSharedIndexInformer(from, &corev1.Pod{}, 0, indexersOf(indexed)))
}

func (i *clientGoInformer) handle(tb testing.TB, h calls) <-chan struct{} {
	var funcs cache.ResourceEventHandlerFuncs
	if h.add != nil {
		funcs.AddFunc = func(obj any) { h.add(obj.(*corev1.Pod)) }
	}
	if h.update != nil {
		funcs.UpdateFunc = func(old, updated any) { h.update(old.(*corev1.Pod), updated.(*corev1.Pod)) }
	}
	registration, err := i.AddEventHandler(funcs)
	require.NoError(tb, err)
	return registration.HasSyncedChecker().Done()
}

func (i *clientGoInformer) run(ctx context.Context) error {
	i.RunWithContext(ctx)
	return nil
}

func (i *clientGoInformer) list(namespace string) ([]*corev1.Pod, error) {
	return i.pods.Pods(namespace).List(labels.Everything())
}

// namespaceIndexer returns what informers from a factory have.
func namespaceIndexer() cache.Indexers {
	return cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
}

// indexByLabel is an index that listers make use of.
func indexByLabel() *index.Index[index.Label, *corev1.Pod] {
	return index.Labels[*corev1.Pod]("app")
}

// twoIndexers returns the indexes of indexByNode and indexByApp.
func twoIndexers() cache.Indexers {
	return cache.Indexers{
		"node": func(obj any) ([]string, error) {
			if pod, ok := obj.(*corev1.Pod); ok && pod.Spec.NodeName != "" {
				return []string{pod.Spec.NodeName}, nil
			}
			return nil, nil
		},
		"app": func(obj any) ([]string, error) {
			if pod, ok := obj.(*corev1.Pod); ok {
				if app, ok := pod.Labels["app"]; ok {
					return []string{app}, nil
				}
			}
			return nil, nil
		},
	}
}

// twoTypedIndexers returns the same for client-go's typed informers.
func twoTypedIndexers() cache.TypedIndexers[*corev1.Pod] {
	return cache.TypedIndexers[*corev1.Pod]{
		"node": func(pod *corev1.Pod) ([]string, error) {
			if pod.Spec.NodeName == "" {
				return nil, nil
			}
			return []string{pod.Spec.NodeName}, nil
		},
		"app": func(pod *corev1.Pod) ([]string, error) {
			if app, ok := pod.Labels["app"]; ok {
				return []string{app}, nil
			}
			return nil, nil
		},
	}
}

// clientGoTypedInformer is client-go's informer with its typed methods.
type clientGoTypedInformer struct {
	clientGoInformer
	typed cache.TypedSharedIndexInformer[*corev1.Pod]
}

func newClientGoTyped(_ testing.TB, from cache.ListerWatcher, indexed bool) informer {
	indexers := namespaceIndexer()
	if indexed {
		indexers = cache.TypedIndexersToIndexers(twoTypedIndexers())
	}
	i := cache.NewTypedSharedIndexInformer[*corev1.Pod](cache.NewSharedIndexInformer(from, &corev1.Pod{}, 0, indexers))
	return &clientGoTypedInformer{
		clientGoInformer: clientGoInformer{SharedIndexInformer: i, pods: corev1listers.NewPodLister(i.GetIndexer())},
		typed:            i,
	}
}

func (i *clientGoTypedInformer) handle(tb testing.TB, h calls) <-chan struct{} {
	registration, err := i.typed.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{AddFunc: h.add, UpdateFunc: h.update})
	require.NoError(tb, err)
	return registration.HasSyncedChecker().Done()
}
