package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"

	"golang.org/x/sync/errgroup"

	"github.com/kubetyped/informer/e2e/workload"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// typedInformers are those of this project.
type typedInformers struct {
	runs     []func(context.Context) error
	handlers []*typed.Registration
}

func newTyped(client kubernetes.Interface, selector labels.Selector, t tallies) (informers, error) {
	return newTypedWith(client, selector, t)
}

// newFields returns those of a program that needs six fields of Pods.
func newFields(client kubernetes.Interface, selector labels.Selector, t tallies) (informers, error) {
	return newTypedWith(client, selector, t,
		kube.WithFields("metadata.labels", "metadata.ownerReferences", "spec.nodeName", "status.phase", "status.podIP", "status.conditions"))
}

func newTypedWith(client kubernetes.Interface, selector labels.Selector, t tallies, ofPods ...kube.SourceOption) (informers, error) {
	s := &typedInformers{}
	all, selected := metav1.NamespaceAll, kube.WithLabelSelector(selector)
	core := client.CoreV1()
	slices := client.DiscoveryV1().EndpointSlices(all)
	err := errors.Join(
		addTyped(s, t[pods], kube.FromClient(core.Pods(all), append(ofPods, selected)...), "node", podByNode),
		addTyped(s, t[configMaps], kube.FromClient(core.ConfigMaps(all), selected), "tier", byLabel[*corev1.ConfigMap](workload.TierLabel)),
		addTyped(s, t[secrets], kube.FromClient(core.Secrets(all), selected), "type", secretByType),
		addTyped(s, t[services], kube.FromClient(core.Services(all), selected), "tier", byLabel[*corev1.Service](workload.TierLabel)),
		addTyped[*discoveryv1.EndpointSlice](s, t[endpointSlices], kube.FromClient(slices, selected), "service", sliceByService),
	)
	return s, err
}

func addTyped[T object](s *typedInformers, t *tally, src source.Source[T], name string, key indexKey[T]) error {
	informer := typed.NewInformer(src)
	if err := informer.AddIndexes(index.Single("app", byApp[T]()), index.Single(name, key)); err != nil {
		return err
	}
	handler, err := informer.Handle(typed.HandlerFuncs[T]{
		AddFunc:    func(T, bool) { t.other() },
		UpdateFunc: func(_, updated T) { t.update(updated.GetResourceVersion()) },
		DeleteFunc: func(typed.Deleted[T]) { t.other() },
	})
	if err != nil {
		return err
	}
	s.runs = append(s.runs, informer.Run)
	s.handlers = append(s.handlers, handler)
	return nil
}

func (s *typedInformers) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, run := range s.runs {
		group.Go(func() error { return run(ctx) })
	}
	return group.Wait()
}

func (s *typedInformers) waitForSync(ctx context.Context) error {
	for _, handler := range s.handlers {
		if err := handler.WaitForSync(ctx); err != nil {
			return err
		}
	}
	return nil
}
