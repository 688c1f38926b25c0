package main

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/index"
)

// runClientGo runs the controller on informers of client-go.
func (p *program) runClientGo(ctx context.Context, config *rest.Config) error {
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	parents, secrets := factory.Networking().V1().Ingresses(), factory.Core().V1().Secrets()
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[*networkingv1.Ingress]())
	indexer := parents.Informer().GetIndexer()
	err = indexer.AddIndexers(cache.Indexers{bySecret: func(obj any) ([]string, error) { return namesOf(obj.(*networkingv1.Ingress)), nil }})
	if err != nil {
		return err
	}
	enqueue := func(obj any) {
		if secret, ok := obj.(*corev1.Secret); ok {
			of, _ := indexer.ByIndex(bySecret, index.KeyOf(secret).String()) // the index is there
			for _, parent := range of {
				q.Add(parent.(*networkingv1.Ingress))
			}
		}
	}
	_, err = secrets.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: enqueue, UpdateFunc: func(_, obj any) { enqueue(obj) }})
	if err != nil {
		return err
	}
	_, err = parents.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { q.Add(obj.(*networkingv1.Ingress)) }})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	factory.WaitForCacheSync(ctx.Done())
	lister := secrets.Lister()
	read := func(_ context.Context, key index.Key) (*corev1.Secret, error) {
		secret, err := lister.Secrets(key.Namespace).Get(key.Name)
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return secret, err
	}
	return p.work(ctx, q, read)
}

// work runs the workers of client-go's queue.
func (p *program) work(ctx context.Context, q workqueue.TypedRateLimitingInterface[*networkingv1.Ingress], read func(context.Context, index.Key) (*corev1.Secret, error)) error {
	stop := context.AfterFunc(ctx, q.ShutDown)
	defer stop()
	var running sync.WaitGroup
	for range *workers {
		running.Go(func() {
			for {
				ingress, over := q.Get()
				if over {
					return
				}
				if err := p.reconcile(ctx, ingress, read); err != nil {
					q.AddRateLimited(ingress)
				}
				q.Done(ingress)
			}
		})
	}
	running.Wait()
	return nil
}
