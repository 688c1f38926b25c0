package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/reference"
	"github.com/kubetyped/informer/typed/source"
)

// runTyped runs the controller on package typed/reference.
func (p *program) runTyped(ctx context.Context, config *rest.Config) error {
	parents := typed.NewInformer(kube.FromREST[*networkingv1.Ingress](config))
	secrets := reference.NewSource[index.Key](func(k index.Key) source.Source[*corev1.Secret] {
		return kube.FromREST[*corev1.Secret](config, kube.WithName(k))
	})
	informer := typed.NewInformer(secrets)
	q, err := queue.NewWorkQueue[index.Key]()
	if err != nil {
		return err
	}
	if err := reference.From(secrets, parents, secretsOf); err != nil {
		return err
	}
	stop, err := reference.EnqueueReferrers(q, secrets, parents, secretsOf)
	if err != nil {
		return err
	}
	defer stop()
	if _, err := parents.Handle(control.Enqueue[*networkingv1.Ingress](q)); err != nil {
		return err
	}
	read := func(ctx context.Context, key index.Key) (*corev1.Secret, error) {
		secret, exists, err := reference.Get(ctx, secrets, informer, key)
		if !exists {
			return nil, err
		}
		return secret, nil
	}
	return control.Run(ctx, control.WithInformers(parents, informer), control.WithWorkers(q, *workers, func(ctx context.Context, key index.Key) error {
		ingress, exists := parents.Get(key)
		if !exists {
			return nil
		}
		return p.reconcile(ctx, ingress, read)
	}))
}
