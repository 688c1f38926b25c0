package views

import (
	"cmp"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/internal/test/pods"
)

// app is an application in a namespace: by its label most Services and policies select.
// The name is "" for those that do not, and for Pods that have no such label.
type app struct{ namespace, name string }

func (a app) key() string { return a.namespace + "/" + a.name }

const byApp = "app"

// AppKey is what Pods are indexed by, where that is by namespace and application.
func AppKey(namespace string, set map[string]string) string {
	return app{namespace, set[pods.AppLabel]}.key()
}

func indexByApp() cache.Indexers {
	return cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		byApp: func(obj any) ([]string, error) {
			pod := obj.(*corev1.Pod)
			return []string{AppKey(pod.Namespace, pod.Labels)}, nil
		},
	}
}

// podsOf returns the Pods of an application, all of the namespace without a name.
func podsOf(store cache.Indexer, of app) []any {
	index, key := cache.NamespaceIndex, of.namespace
	if of.name != "" {
		index, key = byApp, of.key()
	}
	found, err := store.ByIndex(index, key)
	must(err)
	return found
}

// selecting is the objects that select Pods, by the applications that they select.
type selecting struct {
	mu        sync.Mutex
	selectors map[types.NamespacedName]labels.Selector  // guarded by mu
	by        map[app]map[types.NamespacedName]struct{} // guarded by mu
	apps      map[types.NamespacedName]app              // guarded by mu
}

func newSelecting() *selecting {
	return &selecting{
		selectors: map[types.NamespacedName]labels.Selector{},
		by:        map[app]map[types.NamespacedName]struct{}{},
		apps:      map[types.NamespacedName]app{},
	}
}

// put notes a selector, nil if the object has gone.
func (s *selecting) put(key types.NamespacedName, set map[string]string, selector labels.Selector) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of, there := s.apps[key]; there {
		delete(s.by[of], key)
		if len(s.by[of]) == 0 {
			delete(s.by, of)
		}
		delete(s.apps, key)
		delete(s.selectors, key)
	}
	if selector == nil {
		return
	}
	of := app{key.Namespace, set[pods.AppLabel]}
	if s.by[of] == nil {
		s.by[of] = map[types.NamespacedName]struct{}{}
	}
	s.by[of][key] = struct{}{}
	s.apps[key], s.selectors[key] = of, selector
}

// matching calls f with each object that selects a Pod.
func (s *selecting) matching(pod *corev1.Pod, f func(key types.NamespacedName)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range []string{pod.Labels[pods.AppLabel], ""} {
		for key := range s.by[app{pod.Namespace, name}] {
			if s.selectors[key].Matches(labels.Set(pod.Labels)) {
				f(key)
			}
		}
	}
}

// of returns the selector of an object.
func (s *selecting) of(key types.NamespacedName) (app, labels.Selector) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.apps[key], s.selectors[key]
}

func keyOf(obj metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

func endpointsByHand(services []*corev1.Service, pods []*corev1.Pod) Running[*corev1.Service, *corev1.Pod, *Endpoints] {
	c := newController[*corev1.Service, *corev1.Pod, *Endpoints](services, pods, nil, indexByApp())
	selected := newSelecting()
	c.changed.left = func(old, now *corev1.Service) {
		if now == nil {
			selected.put(keyOf(old), nil, nil)
			c.enqueue(old)
			return
		}
		selected.put(keyOf(now), now.Spec.Selector, labels.SelectorFromValidatedSet(now.Spec.Selector))
		c.enqueue(now)
	}
	c.changed.right = func(old, now *corev1.Pod) {
		for _, pod := range []*corev1.Pod{old, now} {
			if pod != nil {
				selected.matching(pod, c.queue.Add)
			}
		}
	}
	c.compute = func(service *corev1.Service) *Endpoints {
		of, selector := selected.of(keyOf(service))
		var matching []*corev1.Pod
		for _, obj := range podsOf(c.right.informer.GetIndexer(), of) {
			if pod := obj.(*corev1.Pod); selector != nil && selector.Matches(labels.Set(pod.Labels)) {
				matching = append(matching, pod)
			}
		}
		return EndpointsOf(service, slices.Values(ByName(matching)))
	}
	return c
}

func placementsByHand(pods []*corev1.Pod, nodes []*corev1.Node) Running[*corev1.Pod, *corev1.Node, *Placement] {
	const byNode = "node"
	c := newController[*corev1.Pod, *corev1.Node, *Placement](pods, nodes, cache.Indexers{byNode: func(obj any) ([]string, error) {
		return []string{obj.(*corev1.Pod).Spec.NodeName}, nil
	}}, nil)
	c.changed.left = func(old, now *corev1.Pod) { c.enqueue(cmp.Or(now, old)) }
	c.changed.right = func(old, now *corev1.Node) {
		on, err := c.left.informer.GetIndexer().ByIndex(byNode, cmp.Or(now, old).Name)
		must(err)
		for _, pod := range on {
			c.enqueue(pod.(*corev1.Pod))
		}
	}
	c.compute = func(pod *corev1.Pod) *Placement {
		obj, there, err := c.right.informer.GetIndexer().GetByKey(pod.Spec.NodeName)
		must(err)
		if !there {
			return PlacementOf(pod, nil)
		}
		return PlacementOf(pod, obj.(*corev1.Node))
	}
	return c
}

func appliedByHand(pods []*corev1.Pod, policies []*networkingv1.NetworkPolicy) Running[*corev1.Pod, *networkingv1.NetworkPolicy, *Applied] {
	c := newController[*corev1.Pod, *networkingv1.NetworkPolicy, *Applied](pods, policies, indexByApp(), nil)
	selected := newSelecting()
	c.changed.left = func(old, now *corev1.Pod) { c.enqueue(cmp.Or(now, old)) }
	enqueueSelected := func(key types.NamespacedName) {
		of, selector := selected.of(key)
		if selector == nil {
			return
		}
		for _, obj := range podsOf(c.left.informer.GetIndexer(), of) {
			if pod := obj.(*corev1.Pod); selector.Matches(labels.Set(pod.Labels)) {
				c.enqueue(pod)
			}
		}
	}
	c.changed.right = func(old, now *networkingv1.NetworkPolicy) {
		if now == nil {
			enqueueSelected(keyOf(old))
			selected.put(keyOf(old), nil, nil)
			return
		}
		if old != nil {
			enqueueSelected(keyOf(old))
		}
		selected.put(keyOf(now), now.Spec.PodSelector.MatchLabels, SelectorOf(now))
		enqueueSelected(keyOf(now))
	}
	c.compute = func(pod *corev1.Pod) *Applied {
		var matching []*networkingv1.NetworkPolicy
		selected.matching(pod, func(key types.NamespacedName) {
			obj, there, err := c.right.informer.GetIndexer().GetByKey(key.String())
			must(err)
			if there {
				matching = append(matching, obj.(*networkingv1.NetworkPolicy))
			}
		})
		return AppliedTo(pod, slices.Values(ByName(matching)))
	}
	return c
}
