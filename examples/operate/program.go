package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/observe"
)

// program contains informers of a factory, a handler that bills Pods, and a controller of
// Services.
type program struct {
	factory   *kube.Factory
	services  *queue.WorkQueue[index.Key]
	inspector *inspect.Inspector
}

func newProgram(config *rest.Config) (*program, error) {
	factory := kube.NewFactory(config, kube.WithInformerOptions(
		observe.WithSlowHandlers(time.Second, time.Minute),
		observe.WithHistory(1000),
		observe.WithTotalBudget(observe.Budget{Objects: 100_000}),
	))
	services, err := queue.NewWorkQueue[index.Key](queue.WithName("services"))
	if err != nil {
		return nil, err
	}
	inspector, err := inspect.New(inspect.WithTitle("operate"), inspect.WithFactories(factory), inspect.WithQueue(services))
	return &program{factory, services, inspector}, err
}

// run runs the program until ctx ends. If one of its informers fails, the others continue.
func (p *program) run(ctx context.Context) error {
	defer p.factory.Shutdown()
	pods, err1 := kube.For[*corev1.Pod](p.factory)
	services, err2 := kube.For[*corev1.Service](p.factory)
	_, err3 := kube.For[*corev1.ConfigMap](p.factory)
	_, err4 := kube.For[*corev1.Secret](p.factory)
	_, err5 := kube.For[*corev1.Node](p.factory)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return err
	}
	p.factory.Freeze() // from now on, asking for another informer is an error
	_, err1 = pods.Handle(bill(ctx), typed.WithHandlerName("billing"))
	_, err2 = services.Handle(control.Enqueue[*corev1.Service](p.services))
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	return p.services.Run(ctx, 2, reconcile)
}

// bill returns a handler that asks another service what a Pod costs. That takes long, which
// has gone unnoticed.
func bill(ctx context.Context) typed.Handler[*corev1.Pod] {
	ask := func() {
		select {
		case <-time.After(400 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return typed.HandlerFuncs[*corev1.Pod]{
		AddFunc:    func(*corev1.Pod, bool) { ask() },
		UpdateFunc: func(_, _ *corev1.Pod) { ask() },
	}
}

// reconcile sees to the load balancer of a Service. For one of them there is none.
func reconcile(_ context.Context, key index.Key) error {
	if key.Name == "checkout" {
		return fmt.Errorf("load balancer of %s: the quota of 50 is used up", key)
	}
	return nil
}
