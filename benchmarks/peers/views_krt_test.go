package peers

import (
	"iter"
	"slices"

	"istio.io/istio/pkg/kube/krt"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/kubetyped/informer/benchmarks/internal/views"
)

// krtViews is krt on collections that the program changes, which costs it less than
// informers do. Pods are found by namespace, and what selects them by it too, as istio
// does it; with byApp, Pods by their application as well, which fits these Services.
func krtViews(impl string, byApp bool) views.Side {
	return views.Side{
		Impl: impl,
		Endpoints: func(services []*corev1.Service, pods []*corev1.Pod) views.Running[*corev1.Service, *corev1.Pod, *views.Endpoints] {
			r := newKRTRunning[*corev1.Service, *corev1.Service, *corev1.Pod, *corev1.Pod, krtEndpoints, *views.Endpoints](services, same[*corev1.Service], pods, same[*corev1.Pod])
			key := func(namespace string, _ map[string]string) string { return namespace }
			if byApp {
				key = views.AppKey
			}
			by := krt.NewIndex(r.right, "by", func(pod *corev1.Pod) []string { return []string{key(pod.Namespace, pod.Labels)} })
			r.make = func() krt.Collection[krtEndpoints] {
				return krt.NewCollection(r.left, func(ctx krt.HandlerContext, s *corev1.Service) *krtEndpoints {
					found := krt.Fetch(ctx, r.right, krt.FilterIndex(by, key(s.Namespace, s.Spec.Selector)), krt.FilterLabel(s.Spec.Selector))
					return &krtEndpoints{views.EndpointsOf(s, slices.Values(views.ByName(found)))}
				}, krt.WithStop(r.stop))
			}
			return r
		},
		Placements: func(pods []*corev1.Pod, nodes []*corev1.Node) views.Running[*corev1.Pod, *corev1.Node, *views.Placement] {
			r := newKRTRunning[*corev1.Pod, *corev1.Pod, *corev1.Node, *corev1.Node, krtPlacement, *views.Placement](pods, same[*corev1.Pod], nodes, same[*corev1.Node])
			r.make = func() krt.Collection[krtPlacement] {
				return krt.NewCollection(r.left, func(ctx krt.HandlerContext, pod *corev1.Pod) *krtPlacement {
					if node := krt.FetchOne(ctx, r.right, krt.FilterKey(pod.Spec.NodeName)); node != nil {
						return &krtPlacement{views.PlacementOf(pod, *node)}
					}
					return &krtPlacement{views.PlacementOf(pod, nil)}
				}, krt.WithStop(r.stop))
			}
			return r
		},
		Applied: func(pods []*corev1.Pod, policies []*networkingv1.NetworkPolicy) views.Running[*corev1.Pod, *networkingv1.NetworkPolicy, *views.Applied] {
			r := newKRTRunning[*corev1.Pod, *corev1.Pod, *networkingv1.NetworkPolicy, krtPolicy, krtApplied, *views.Applied](pods, same[*corev1.Pod], policies, func(p *networkingv1.NetworkPolicy) krtPolicy { return krtPolicy{p} })
			by := krt.NewNamespaceIndex(r.right)
			r.make = func() krt.Collection[krtApplied] {
				return krt.NewCollection(r.left, func(ctx krt.HandlerContext, pod *corev1.Pod) *krtApplied {
					found := krt.Fetch(ctx, r.right, krt.FilterIndex(by, pod.Namespace), krt.FilterSelects(pod.Labels))
					policies := make([]*networkingv1.NetworkPolicy, len(found))
					for i, p := range found {
						policies[i] = p.NetworkPolicy
					}
					return &krtApplied{views.AppliedTo(pod, slices.Values(views.ByName(policies)))}
				}, krt.WithStop(r.stop))
			}
			return r
		},
	}
}

// Objects of krt have a method Equals, and a key. Policies have a selector.
type (
	krtEndpoints struct{ *views.Endpoints }
	krtPlacement struct{ *views.Placement }
	krtApplied   struct{ *views.Applied }
	krtPolicy    struct{ *networkingv1.NetworkPolicy }
)

func (e krtEndpoints) ResourceName() string           { return e.Namespace + "/" + e.Name }
func (e krtEndpoints) Equals(other krtEndpoints) bool { return e.Equal(other.Endpoints) }
func (e krtEndpoints) result() *views.Endpoints       { return e.Endpoints }
func (p krtPlacement) ResourceName() string           { return p.Namespace + "/" + p.Name }
func (p krtPlacement) Equals(other krtPlacement) bool { return p.Equal(other.Placement) }
func (p krtPlacement) result() *views.Placement       { return p.Placement }
func (a krtApplied) ResourceName() string             { return a.Namespace + "/" + a.Name }
func (a krtApplied) Equals(other krtApplied) bool     { return a.Equal(other.Applied) }
func (a krtApplied) result() *views.Applied           { return a.Applied }

func (p krtPolicy) ResourceName() string                { return p.Namespace + "/" + p.Name }
func (p krtPolicy) Equals(other krtPolicy) bool         { return p.NetworkPolicy == other.NetworkPolicy }
func (p krtPolicy) GetLabelSelector() map[string]string { return p.Spec.PodSelector.MatchLabels }

func same[T any](obj T) T { return obj }

// krtRunning is a collection of krt and its inputs, of objects of types A and B that are
// made of those of L and R; M is a struct of an Out.
type krtRunning[L, A, R, B any, M interface{ result() Out }, Out any] struct {
	left    krt.StaticCollection[A]
	right   krt.StaticCollection[B]
	ofLeft  func(L) A
	ofRight func(R) B
	make    func() krt.Collection[M]
	made    krt.Collection[M]
	stop    chan struct{}
}

func newKRTRunning[L, A, R, B any, M interface{ result() Out }, Out any](left []L, ofLeft func(L) A, right []R, ofRight func(R) B) *krtRunning[L, A, R, B, M, Out] {
	r := &krtRunning[L, A, R, B, M, Out]{ofLeft: ofLeft, ofRight: ofRight, stop: make(chan struct{})}
	r.left = krt.NewStaticCollection(nil, converted(left, ofLeft), krt.WithStop(r.stop))
	r.right = krt.NewStaticCollection(nil, converted(right, ofRight), krt.WithStop(r.stop))
	return r
}

func converted[T, U any](objects []T, convert func(T) U) []U {
	all := make([]U, len(objects))
	for i, obj := range objects {
		all[i] = convert(obj)
	}
	return all
}

func (r *krtRunning[L, A, R, B, M, Out]) Compute(notify func(old, now Out)) {
	r.made = r.make()
	r.made.RegisterBatch(func(events []krt.Event[M]) {
		for _, event := range events {
			var old Out
			if event.Old != nil {
				old = (*event.Old).result()
			}
			if event.New != nil {
				notify(old, (*event.New).result())
			}
		}
	}, true)
}

func (r *krtRunning[L, A, R, B, M, Out]) PutLeft(obj L)  { r.left.UpdateObject(r.ofLeft(obj)) }
func (r *krtRunning[L, A, R, B, M, Out]) PutRight(obj R) { r.right.UpdateObject(r.ofRight(obj)) }

func (r *krtRunning[L, A, R, B, M, Out]) All() iter.Seq[Out] {
	return slices.Values(converted(r.made.List(), M.result))
}

func (r *krtRunning[L, A, R, B, M, Out]) Stop() { close(r.stop) }
