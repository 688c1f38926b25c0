package typed

import (
	"context"
	"fmt"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
)

// Awaited returns how many versions and deletions are waited for.
func (i *Informer[T]) Awaited() (versions, deletions int) {
	i.versions.mu.Lock()
	defer i.versions.mu.Unlock()
	i.deletions.mu.Lock()
	defer i.deletions.mu.Unlock()
	for _, waiters := range i.deletions.waiters {
		deletions += len(waiters)
	}
	return len(i.versions.waiters), deletions
}

// KeptAfterBurst returns the number of changes and events that a loop has room for
// after a batch of n changes, which may be one step.
func KeptAfterBurst[T index.Object](object func(name string, version int) T, n int, isStep bool) int {
	l := loop[T]{informer: NewInformer[T](nil)}
	l.informer.ctx = context.Background()
	deltas := make([]queue.Delta[T], n)
	for i := range deltas {
		deltas[i] = queue.Delta[T]{Type: queue.Put, Object: object(fmt.Sprint("n", i), i+1)}
	}
	if isStep {
		deltas = []queue.Delta[T]{{Type: queue.Step, List: &queue.List[T]{Changes: deltas}}}
	}
	l.process(deltas)
	return cap(l.changes) + cap(l.events)
}

// ListCounts returns how many count the informer's lists.
func (i *Informer[T]) ListCounts() int {
	i.lists.mu.Lock()
	defer i.lists.mu.Unlock()
	return len(i.lists.counts)
}
