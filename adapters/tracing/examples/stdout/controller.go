package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/adapters/tracing"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
)

// makePod runs a controller until it has made a Pod of a ConfigMap that is created when
// the controller is ready, and until stored is closed.
func makePod(ctx context.Context, tracer *tracing.Tracer, config *rest.Config, stored <-chan struct{}) error {
	// Writes of another client, which belong to no trace.
	others, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(tracing.Transport(tracer, config))
	if err != nil {
		return err
	}
	q, err := queue.NewWorkQueue[index.Key](queue.WithName("configmaps"))
	if err != nil {
		return err
	}
	keys, err := tracing.NewQueue(tracer, "configmaps", q)
	if err != nil {
		return err
	}
	src, events := tracing.Source(tracer, kube.FromREST[*corev1.ConfigMap](config))
	maps := typed.NewInformer(src)
	handler := tracing.Enqueue(events, keys, func(q control.Adder[index.Key]) typed.Handler[*corev1.ConfigMap] {
		return control.Enqueue[*corev1.ConfigMap](q)
	})
	if _, err := maps.Handle(handler); err != nil {
		return err
	}

	running, stop := context.WithCancel(ctx)
	defer stop()
	made := make(chan struct{})
	reconcile := func(ctx context.Context, key index.Key) error {
		if _, ok := maps.Get(key); !ok {
			return nil
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: key.Name}}
		_, err := client.CoreV1().Pods(key.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		if err == nil {
			close(made)
		}
		return err
	}
	changed := make(chan error, 1)
	go func() {
		defer stop() // one Pod is all that is to be seen
		changed <- changeMap(running, maps, others, made, stored)
	}()
	err = control.Run(running, control.WithInformers(maps), control.WithWorkers(keys, 1, reconcile))
	stop() // even if the controller has failed
	return errors.Join(err, <-changed)
}

// changeMap creates a ConfigMap when the controller is ready, and waits for the events that it
// leads to.
func changeMap(ctx context.Context, maps *typed.Informer[*corev1.ConfigMap], client kubernetes.Interface, events ...<-chan struct{}) error {
	if err := maps.WaitForSync(ctx); err != nil {
		return err
	}
	web := applycorev1.ConfigMap("web", "default").WithData(map[string]string{"image": "web:1"})
	if _, err := client.CoreV1().ConfigMaps("default").Apply(ctx, web, metav1.ApplyOptions{FieldManager: "kubectl"}); err != nil {
		return err
	}
	for _, event := range events {
		select {
		case <-event:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
