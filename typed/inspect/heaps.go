package inspect

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/report"
)

const (
	// weighAgain is after which time an informer is weighed again.
	weighAgain = 10 * time.Second
	// keepWeights is for how long weights, and with them the informers that factories have given
	// up since, are kept without a report.
	keepWeights = time.Minute
	// firstSample is how many objects are measured the first time, so that the first page
	// has something of each informer, and laterSample how many later.
	firstSample, laterSample = 32, 256
	// firstBudget and laterBudget are how long a report may wait for informers that were not
	// weighed yet, and for others.
	firstBudget, laterBudget = 250 * time.Millisecond, 25 * time.Millisecond
)

// heaps weighs the objects of informers, one informer at a time. The zero value is ready for
// use.
type heaps struct {
	mu    sync.Mutex
	known map[typed.AnyInformer]weight // guarded by mu
	timer *time.Timer                  // guarded by mu; nil: nothing was weighed yet
}

// weight is what is costly to know of an informer.
type weight struct {
	heap    report.Heap
	indexes []index.IndexSize
	at      time.Time // zero: it was not weighed
}

// of returns what the informers weigh, and weighs those for which it is time, those first
// that were not weighed for longest. The zero weight is of informers that were not yet.
func (h *heaps) of(ctx context.Context, informers []typed.AnyInformer) []weight {
	h.mu.Lock()
	defer h.mu.Unlock()
	began := time.Now()
	known := make(map[typed.AnyInformer]weight, len(informers)) // forgets those that are gone
	var due []typed.AnyInformer
	for _, informer := range informers {
		last := h.known[informer]
		known[informer] = last
		if began.Sub(last.at) >= weighAgain {
			due = append(due, informer)
		}
	}
	slices.SortStableFunc(due, func(a, b typed.AnyInformer) int { return known[a].at.Compare(known[b].at) })
	for _, informer := range due {
		budget, sample := laterBudget, laterSample
		if known[informer].at.IsZero() {
			budget, sample = firstBudget, firstSample
		}
		if ctx.Err() != nil || time.Since(began) > budget {
			break
		}
		known[informer] = weight{informer.EstimateHeap(sample), informer.IndexSizes(), time.Now()}
	}
	h.known = known
	h.expire()
	weights := make([]weight, len(informers))
	for n, informer := range informers {
		weights[n] = known[informer]
	}
	return weights
}

// expire forgets all weights when no report has asked for them for some time. The caller holds mu.
func (h *heaps) expire() {
	if h.timer != nil {
		h.timer.Reset(keepWeights)
		return
	}
	h.timer = time.AfterFunc(keepWeights, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		clear(h.known)
	})
}

// forget forgets the weights of the informers of parts. Factories may have others now than those
// that were weighed, so that all are weighed again.
func (h *heaps) forget(of *parts) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(of.factories) > 0 {
		clear(h.known)
	}
	for _, informer := range of.informers {
		delete(h.known, informer)
	}
}
