package observe

import (
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/observer"
	"github.com/kubetyped/informer/typed/report"
)

// What WithBudget says of estimates.
const (
	weighedObjects = 64
	weighedEvery   = 30 * time.Second
)

// account is what one informer uses of a budget. The informer's goroutine owns all fields
// except the last two.
type account struct {
	observer.Observed
	spending *spending
	total    *totalBudget // that spending is of; nil: it is the informer's own

	heap      int64 // of the objects, when they were last weighed
	weighed   int64 // how many there were
	weighedAt time.Time
	overTold  bool // it was said that the budget is used up

	spentObjects, spentHeap atomic.Int64 // of total
}

// batch sees to the budget after a batch.
func (a *account) batch(_ int, apply func()) {
	apply()
	objects, now := int64(a.Len()), time.Now()
	a.weigh(objects, now)
	heap := int64(0)
	if a.weighed > 0 {
		heap = int64(float64(a.heap) / float64(a.weighed) * float64(objects))
	}
	if a.total == nil {
		used, warn, over := a.spending.spend(objects, heap, now)
		a.changed(used, objects, warn, over)
		return
	}
	moreObjects, moreHeap := objects-a.spentObjects.Swap(objects), heap-a.spentHeap.Swap(heap)
	used, warn, _ := a.total.spend(moreObjects, moreHeap, now)
	grown := moreObjects > 0 || moreHeap > 0
	a.changed(used, used.Kept, warn, grown && used.Used > 1)
}

// weigh estimates the memory of the objects, if it is time to.
func (a *account) weigh(objects int64, now time.Time) {
	if a.spending.Bytes == 0 || !a.IsSynced() || a.weighed > 0 && objects <= a.weighed+a.weighed/20 && now.Sub(a.weighedAt) < weighedEvery {
		return
	}
	a.weighed, a.weighedAt = objects, now
	goroutine.CallSafely(func() { a.heap = a.EstimateHeap(weighedObjects).Bytes })
}

// changed logs when the budget comes near its limit, and ends the informer over the limit if
// Stop is set.
func (a *account) changed(used report.Budget, objects int64, warn, over bool) {
	b := &a.spending.Budget
	if warn {
		klog.FromContext(a.Context()).Info("Informer budget is 80% used", "objects", objects, "heapBytes", used.HeapBytes, "maxObjects", b.Objects, "maxBytes", b.Bytes, "total", a.total != nil)
		if b.OnWarning != nil {
			goroutine.CallSafely(func() { b.OnWarning(used) })
		}
	}
	if !over {
		return
	}
	err := a.error(objects, used)
	switch {
	case b.Stop:
		a.End(err)
	case !a.overTold:
		a.overTold = true
		utilruntime.HandleErrorWithContext(a.Context(), err, "Informer budget is exceeded")
	}
}

// list ends the informer while a list comes, if that has more objects than the budget allows.
func (a *account) list(received int) {
	b, objects := &a.spending.Budget, int64(received)
	if a.total != nil {
		objects += a.total.sumObjects.Load() - a.spentObjects.Load()
	}
	if b.Stop && b.Objects > 0 && objects > b.Objects {
		a.End(a.error(objects, report.Budget{Objects: b.Objects, Bytes: b.Bytes, Kept: objects, Used: float64(objects) / float64(b.Objects), Since: time.Now()}))
	}
}

func (a *account) error(objects int64, used report.Budget) error {
	return &BudgetError{Informer: a.Name(), Created: a.Created(), Objects: objects, Budget: used, Total: a.total != nil}
}

// refund takes what the informer has spent off the budget of its factory.
func (a *account) refund() {
	a.total.spend(-a.spentObjects.Swap(0), -a.spentHeap.Swap(0), time.Now())
}
