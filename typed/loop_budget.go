package typed

import (
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/typed/report"
)

// What WithBudget says of estimates.
const (
	weighedObjects = 64
	weighedEvery   = 30 * time.Second
)

// account sees to the budgets after a batch.
func (l *loop[T]) account() {
	if l.spending == nil && l.total == nil {
		return
	}
	objects, now := int64(l.store.Len()), time.Now()
	l.weigh(objects, now)
	heap := int64(0)
	if l.weighed > 0 {
		heap = int64(float64(l.heap) / float64(l.weighed) * float64(objects))
	}
	if l.spending != nil {
		used, warn, over := l.spending.spend(objects, heap, now)
		contain(func() { l.budgetChanged(&l.spending.Budget, used, objects, warn, over, false) })
	}
	if l.total != nil {
		moreObjects, moreHeap := objects-l.spent.objects.Swap(objects), heap-l.spent.heap.Swap(heap)
		used, warn, _ := l.total.spend(moreObjects, moreHeap, now)
		grown := moreObjects > 0 || moreHeap > 0
		contain(func() { l.budgetChanged(&l.total.Budget, used, used.Kept, warn, grown && used.Used > 1, true) })
	}
}

// weigh estimates the memory of the objects, if it is time to.
func (l *loop[T]) weigh(objects int64, now time.Time) {
	wanted := l.spending != nil && l.spending.Bytes > 0 || l.total != nil && l.total.Bytes > 0
	if !wanted || !l.isSynced() || l.weighed > 0 && objects <= l.weighed+l.weighed/20 && now.Sub(l.weighedAt) < weighedEvery {
		return
	}
	l.weighed, l.weighedAt = objects, now
	contain(func() { l.heap = l.EstimateHeap(weighedObjects).Bytes })
}

// budgetChanged tells of what has just come near the limit of a budget, and ends the informer
// if it is over it and is to end.
func (l *loop[T]) budgetChanged(b *Budget, used report.Budget, objects int64, warn, over, total bool) {
	if warn {
		l.logger().Info("Informer budget is 80% used", "objects", objects, "heapBytes", used.HeapBytes, "maxObjects", b.Objects, "maxBytes", b.Bytes, "total", total)
		if b.OnWarning != nil {
			contain(func() { b.OnWarning(used) })
		}
	}
	if !over {
		return
	}
	err := &BudgetError{Informer: l.name, Created: l.created, Objects: objects, Budget: used, Total: total}
	switch {
	case b.Stop:
		l.end(err)
	case !l.overTold:
		l.overTold = true
		utilruntime.HandleErrorWithContext(l.ctx, err, "Informer budget is exceeded")
	}
}

// early ends an informer while a list comes, if that has more objects than a budget allows.
func (i *Informer[T]) early(received int, end func(error)) {
	i.endIfOver(i.budget, int64(received), false, end)
	if t := i.total; t != nil {
		others := t.sumObjects.Load() - i.spent.objects.Load()
		i.endIfOver(&t.Budget, others+int64(received), true, end)
	}
}

// endIfOver ends an informer that is about to have so many objects, if a budget has it end
// then. The budget may be nil.
func (i *Informer[T]) endIfOver(b *Budget, objects int64, total bool, end func(error)) {
	if b == nil || !b.Stop || b.Objects == 0 || objects <= b.Objects {
		return
	}
	used := report.Budget{Objects: b.Objects, Bytes: b.Bytes, Kept: objects, Used: float64(objects) / float64(b.Objects), Since: time.Now()}
	end(&BudgetError{Informer: i.name, Created: i.created, Objects: objects, Budget: used, Total: total})
}

// giveBack takes what the informer has spent off the budget of its factory.
func (i *Informer[T]) giveBack() {
	if i.total != nil {
		i.total.spend(-i.spent.objects.Swap(0), -i.spent.heap.Swap(0), time.Now())
	}
}
