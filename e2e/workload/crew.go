package workload

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Crew sends requests, several at a time, and reports its progress.
type Crew struct {
	// Workers is how many requests are in flight at a time, at least one.
	Workers int
	// Out gets a line of progress every second, and one at the end.
	Out io.Writer
}

// Each calls do for 0 to n-1, from several goroutines, and returns when all
// calls have. It returns the first error, after which it makes no more calls,
// or else the error of ctx, if that kept it from making all of them. The verb is
// one like "create", for lines such as "created 10 of 20 Pods (400/s)".
func (c Crew) Each(ctx context.Context, verb, what string, n int, do func(ctx context.Context, i int) error) error {
	var done atomic.Int64
	begin := time.Now()
	report := func() {
		count := done.Load()
		fmt.Fprintf(c.Out, "%sd %d of %d %s (%.0f/s)\n", verb, count, n, what, float64(count)/time.Since(begin).Seconds())
	}
	stop := everySecond(report)
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(c.Workers)
	for i := 0; i < n && running.Err() == nil; i++ {
		group.Go(func() error {
			if err := do(running, i); err != nil {
				return fmt.Errorf("%s %s: %w", verb, what, err)
			}
			done.Add(1)
			return nil
		})
	}
	err := group.Wait()
	stop()
	report()
	if err == nil && done.Load() < int64(n) {
		err = ctx.Err()
	}
	return err
}

// Creator is the part of a generated client that creates objects.
type Creator[T any] interface {
	Create(ctx context.Context, obj T, opts metav1.CreateOptions) (T, error)
}

// Create creates n objects with the clients for their namespaces, such as
// clientset.CoreV1().Pods. It returns the errors of Each.
func Create[T metav1.Object, C Creator[T]](ctx context.Context, c Crew, what string, n int,
	object func(i int) T, client func(namespace string) C) error {
	return c.Each(ctx, "create", what, n, func(ctx context.Context, i int) error {
		obj := object(i)
		_, err := client(obj.GetNamespace()).Create(ctx, obj, metav1.CreateOptions{})
		return err
	})
}

// everySecond calls f every second, from one goroutine, until stop is called,
// which waits for the last call.
func everySecond(f func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var calling sync.WaitGroup
	calling.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				f()
			}
		}
	})
	return func() {
		cancel()
		calling.Wait()
	}
}
