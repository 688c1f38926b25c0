package main

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	factories "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	adapted "github.com/kubetyped/informer/adapters/informers"
	"github.com/kubetyped/informer/e2e/workload"
)

// clientGoInformers are those of a factory with client-go's interface, as its users have
// them.
type clientGoInformers struct {
	factory  factories.SharedInformerFactory
	handlers []cache.ResourceEventHandlerRegistration
}

func newClientGo(client kubernetes.Interface, selector labels.Selector, t tallies) (informers, error) {
	return prepared(factories.NewSharedInformerFactoryWithOptions(client, 0,
		factories.WithTweakListOptions(func(opts *metav1.ListOptions) { opts.LabelSelector = selector.String() })), t)
}

// newImport returns those of a factory of this project that replaces client-go's.
func newImport(client kubernetes.Interface, selector labels.Selector, t tallies) (informers, error) {
	return newAdapted(client, selector, t)
}

// newAdapters returns those of one with deduplication.
func newAdapters(client kubernetes.Interface, selector labels.Selector, t tallies) (informers, error) {
	return newAdapted(client, selector, t, adapted.WithDeduplication())
}

func newAdapted(client kubernetes.Interface, selector labels.Selector, t tallies, opts ...adapted.SharedInformerOption) (informers, error) {
	selected := adapted.WithTweakListOptions(func(opts *metav1.ListOptions) { opts.LabelSelector = selector.String() })
	return prepared(adapted.NewSharedInformerFactoryWithOptions(client, 0, append(opts, selected)...), t)
}

func prepared(factory factories.SharedInformerFactory, t tallies) (informers, error) {
	s := &clientGoInformers{factory: factory}
	core, discovery := s.factory.Core().V1(), s.factory.Discovery().V1()
	err := errors.Join(
		addClientGo(s, t[pods], core.Pods().Informer(), "node", podByNode),
		addClientGo(s, t[configMaps], core.ConfigMaps().Informer(), "tier", byLabel[*corev1.ConfigMap](workload.TierLabel)),
		addClientGo(s, t[secrets], core.Secrets().Informer(), "type", secretByType),
		addClientGo(s, t[services], core.Services().Informer(), "tier", byLabel[*corev1.Service](workload.TierLabel)),
		addClientGo(s, t[endpointSlices], discovery.EndpointSlices().Informer(), "service", sliceByService),
	)
	return s, err
}

// addClientGo sets up an informer. An index by namespace it has from the factory.
func addClientGo[T object](s *clientGoInformers, t *tally, informer cache.SharedIndexInformer, name string, key indexKey[T]) error {
	if err := informer.AddIndexers(cache.Indexers{"app": indexFunc(byApp[T]()), name: indexFunc(key)}); err != nil {
		return err
	}
	handler, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { t.other() },
		UpdateFunc: func(_, updated any) {
			if obj, ok := updated.(T); ok {
				t.update(obj.GetResourceVersion())
			}
		},
		DeleteFunc: func(any) { t.other() },
	})
	if err != nil {
		return err
	}
	s.handlers = append(s.handlers, handler)
	return nil
}

func indexFunc[T object](key indexKey[T]) cache.IndexFunc {
	return func(untyped any) ([]string, error) {
		obj, ok := untyped.(T)
		if !ok {
			return nil, fmt.Errorf("an object is a %T", untyped)
		}
		if key, ok := key(obj); ok {
			return []string{key}, nil
		}
		return nil, nil
	}
}

func (s *clientGoInformers) run(ctx context.Context) error {
	s.factory.StartWithContext(ctx)
	<-ctx.Done()
	s.factory.Shutdown()
	return nil
}

func (s *clientGoInformers) waitForSync(ctx context.Context) error {
	for _, handler := range s.handlers {
		select {
		case <-handler.HasSyncedChecker().Done():
		case <-ctx.Done():
			return fmt.Errorf("wait for informers of client-go: %w", context.Cause(ctx))
		}
	}
	return nil
}
