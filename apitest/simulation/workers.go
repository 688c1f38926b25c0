package simulation

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/control"
)

// Workers checks what a work queue promises, whichever it is: no two workers have one key
// at the same time, and none is lost. A process has keys added by Adder, and processed by
// Wrap, and asks by [Always] and [Eventually]:
//
//	var workers simulation.Workers[index.Key]
//	pods.Handle(control.Enqueue[*corev1.Pod](workers.Adder(q)))
//	simulation.Always(ctx, "no key is with two workers", workers.Twice)
//	simulation.Eventually(ctx, "no key is lost", 10*time.Minute, workers.Lost)
//	return q.Run(ctx, 3, workers.Wrap(reconcile))
//
// The zero value is ready to use. All methods are safe for concurrent use.
type Workers[K comparable] struct {
	mu    sync.Mutex
	busy  map[K]time.Time // guarded by mu; since when a worker has the key
	added map[K]time.Time // guarded by mu; since when it waits for one
	twice error           // guarded by mu; the first
}

// Adder returns what notes the keys that are added to a queue, and adds them.
func (w *Workers[K]) Adder(to control.Adder[K]) control.Adder[K] { return adder[K]{w, to} }

// adder is what Workers.Adder returns.
type adder[K comparable] struct {
	workers *Workers[K]
	to      control.Adder[K]
}

// AddWithOptions implements control.Adder. A key with a delay waits from when that is over;
// what a rate limiter says is not known.
func (a adder[K]) AddWithOptions(key K, o queue.AddOptions) {
	if !o.RateLimited {
		a.workers.add(key, time.Now().Add(max(o.After, 0)))
	}
	a.to.AddWithOptions(key, o)
}

// add notes that a key waits.
func (w *Workers[K]) add(key K, since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.added == nil {
		w.added = map[K]time.Time{}
	}
	if before, ok := w.added[key]; !ok || since.Before(before) {
		w.added[key] = since
	}
}

// Wrap returns a function that notes when a key is processed, and calls process.
func (w *Workers[K]) Wrap(process func(ctx context.Context, key K) error) func(ctx context.Context, key K) error {
	return func(ctx context.Context, key K) error {
		w.begin(key)
		defer w.end(key)
		return process(ctx, key)
	}
}

// begin notes that a worker has got a key.
func (w *Workers[K]) begin(key K) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if since, ok := w.busy[key]; ok && w.twice == nil {
		w.twice = fmt.Errorf("key %v is with a worker for %v, and with another one", key, now.Sub(since))
	}
	if w.busy == nil {
		w.busy = map[K]time.Time{}
	}
	w.busy[key] = now
	if since, ok := w.added[key]; ok && !since.After(now) {
		delete(w.added, key)
	}
}

// end notes that a key was processed.
func (w *Workers[K]) end(key K) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.busy, key)
}

// Twice returns an error if a worker has ever got a key that another one had.
func (w *Workers[K]) Twice(State) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.twice
}

// Lost returns an error if there is a key that was added, is due, and no worker has got
// since. Keys that a worker is about to get are among them.
func (w *Workers[K]) Lost(State) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for key, since := range w.added {
		if !since.After(now) {
			return fmt.Errorf("key %v waits for %v, and %d keys with it", key, now.Sub(since), len(w.added)-1)
		}
	}
	return nil
}
