package main

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// workload is a number of Pods as a cluster with some tenants has them: spread
// over namespaces and Nodes, and each of some application.
type workload struct {
	client kubernetes.Interface
	out    io.Writer

	pods, namespaces, nodes int
	workers                 int // requests at a time
}

// validate returns an error if a number makes no sense.
func (w workload) validate() error {
	for _, number := range []struct {
		name  string
		value int
	}{{"pods", w.pods}, {"namespaces", w.namespaces}, {"nodes", w.nodes}, {"workers", w.workers}} {
		if number.value < 1 {
			return fmt.Errorf("-%s must be positive, not %d", number.name, number.value)
		}
	}
	return nil
}

// create creates all of it, and reports how far it is every second.
func (w workload) create(ctx context.Context) error {
	err := w.each(ctx, "namespaces", w.namespaces, func(ctx context.Context, i int) error {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespaceName(i)}}
		_, err := w.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	err = w.each(ctx, "Nodes", w.nodes, func(ctx context.Context, i int) error {
		_, err := w.client.CoreV1().Nodes().Create(ctx, w.node(i), metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	return w.each(ctx, "Pods", w.pods, func(ctx context.Context, i int) error {
		pod := w.pod(i)
		_, err := w.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
}

// each calls create for 0 to n-1, several at a time. It returns the first error,
// after which it creates no more.
func (w workload) each(ctx context.Context, what string, n int, create func(context.Context, int) error) error {
	var done atomic.Int64
	begin := time.Now()
	report := func() {
		seconds := time.Since(begin).Seconds()
		fmt.Fprintf(w.out, "created %d of %d %s (%.0f/s)\n", done.Load(), n, what, float64(done.Load())/seconds)
	}
	stop := everySecond(report)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(w.workers)
	for i := 0; i < n && ctx.Err() == nil; i++ {
		group.Go(func() error {
			if err := create(ctx, i); err != nil {
				return fmt.Errorf("create %s: %w", what, err)
			}
			done.Add(1)
			return nil
		})
	}
	err := group.Wait()
	stop()
	report()
	return err
}

// everySecond calls f every second, from one goroutine, until stop is called,
// which waits for the last call.
func everySecond(f func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var group errgroup.Group
	group.Go(func() error {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
				f()
			}
		}
	})
	return func() {
		cancel()
		_ = group.Wait() // f has no error to return
	}
}
