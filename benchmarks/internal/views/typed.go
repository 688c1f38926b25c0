package views

import (
	"context"
	"iter"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/view"
)

// Typed is package typed/view, on informers that list and watch.
func Typed() Side {
	return Side{
		Impl:       "typed",
		Endpoints:  onInformers(endpointsView),
		Placements: onInformers(placementsView),
		Applied:    onInformers(appliedView),
	}
}

// TypedSet is package typed/view, on sets that the program changes.
func TypedSet() Side {
	return Side{
		Impl:       "typed-set",
		Endpoints:  onSets(endpointsView),
		Placements: onSets(placementsView),
		Applied:    onSets(appliedView),
	}
}

func endpointsView(services *view.View[*corev1.Service], pods *view.View[*corev1.Pod]) *view.View[*Endpoints] {
	return view.JoinSelecting(services, pods,
		func(s *corev1.Service) labels.Selector { return labels.SelectorFromValidatedSet(s.Spec.Selector) },
		func(s *corev1.Service, pods iter.Seq[*corev1.Pod]) (*Endpoints, bool) {
			return EndpointsOf(s, pods), true
		})
}

func placementsView(pods *view.View[*corev1.Pod], nodes *view.View[*corev1.Node]) *view.View[*Placement] {
	nodeOf := view.One(func(pod *corev1.Pod) (string, bool) { return pod.Spec.NodeName, true })
	name := view.One(func(node *corev1.Node) (string, bool) { return node.Name, true })
	return view.JoinOn(pods, nodes, nodeOf, name, func(pod *corev1.Pod, nodes iter.Seq[*corev1.Node]) (*Placement, bool) {
		for node := range nodes {
			return PlacementOf(pod, node), true
		}
		return PlacementOf(pod, nil), true
	})
}

func appliedView(pods *view.View[*corev1.Pod], policies *view.View[*networkingv1.NetworkPolicy]) *view.View[*Applied] {
	return view.JoinSelectedBy(pods, policies, SelectorOf,
		func(pod *corev1.Pod, policies iter.Seq[*networkingv1.NetworkPolicy]) (*Applied, bool) {
			return AppliedTo(pod, policies), true
		})
}

// SelectorOf returns the selector of a policy, nil if it is not valid.
func SelectorOf(policy *networkingv1.NetworkPolicy) labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector)
	if err != nil {
		return nil
	}
	return selector
}

// join makes a view of two.
type join[L, R, Out index.Object] func(left *view.View[L], right *view.View[R]) *view.View[Out]

// typedRunning is a view and its inputs.
type typedRunning[L, R, Out index.Object] struct {
	source            *view.View[Out]
	result            *typed.Informer[Out]
	putLeft           func(L)
	putRight          func(R)
	ctx               context.Context
	cancel, endInputs func()
	ended             chan error
}

func onInformers[L, R Object, Out index.Object](make join[L, R, Out]) Feed[L, R, Out] {
	return func(left []L, right []R) Running[L, R, Out] {
		a, b := runInformer(left), runInformer(right)
		a.waitForSync()
		b.waitForSync()
		r := newTypedRunning[L, R](make(view.Of(a.informer), view.Of(b.informer)))
		r.putLeft, r.putRight = a.put, b.put
		r.endInputs = func() { a.stop(); b.stop() }
		return r
	}
}

func onSets[L, R, Out index.Object](make join[L, R, Out]) Feed[L, R, Out] {
	return func(left []L, right []R) Running[L, R, Out] {
		a, b := view.NewSet(left...), view.NewSet(right...)
		r := newTypedRunning[L, R](make(a.View(), b.View()))
		r.putLeft, r.putRight = func(obj L) { a.Put(obj) }, func(obj R) { b.Put(obj) }
		r.endInputs = func() {}
		return r
	}
}

func newTypedRunning[L, R, Out index.Object](source *view.View[Out]) *typedRunning[L, R, Out] {
	r := &typedRunning[L, R, Out]{source: source, result: typed.NewInformer(source), ended: make(chan error, 1)}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Compute implements Running.
func (r *typedRunning[L, R, Out]) Compute(notify func(old, now Out)) {
	var none Out
	_, err := r.result.Handle(typed.HandlerFuncs[Out]{
		AddFunc:    func(obj Out, _ bool) { notify(none, obj) },
		UpdateFunc: notify,
	})
	must(err)
	go func() { r.ended <- r.result.Run(r.ctx) }()
}

// PutLeft implements Running.
func (r *typedRunning[L, R, Out]) PutLeft(obj L) { r.putLeft(obj) }

// PutRight implements Running.
func (r *typedRunning[L, R, Out]) PutRight(obj R) { r.putRight(obj) }

// All implements Running.
func (r *typedRunning[L, R, Out]) All() iter.Seq[Out] { return r.result.All() }

// Stop implements Running.
func (r *typedRunning[L, R, Out]) Stop() {
	r.cancel()
	must(<-r.ended)
	r.endInputs()
}

// fedInformer is an informer of this project on a feed.
type fedInformer[T Object] struct {
	informer *typed.Informer[T]
	feed     *cluster.Feed
	ctx      context.Context
	cancel   func()
	ended    chan error
}

func runInformer[T Object](objects []T) *fedInformer[T] {
	i := &fedInformer[T]{feed: cluster.NewFeed(), ended: make(chan error, 1)}
	i.informer = typed.NewInformer(kube.FromListerWatcher[T](i.feed))
	i.ctx, i.cancel = context.WithCancel(context.Background())
	go func() { i.ended <- i.informer.Run(i.ctx) }()
	i.feed.Answer(cluster.ListOf(objects, "1"), func() {})
	return i
}

func (i *fedInformer[T]) waitForSync() { must(i.informer.WaitForSync(i.ctx)) }

func (i *fedInformer[T]) put(obj T) { i.feed.Events <- watch.Event{Type: watch.Modified, Object: obj} }

func (i *fedInformer[T]) stop() {
	i.cancel()
	must(<-i.ended)
}

// must ends a benchmark that went wrong.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
