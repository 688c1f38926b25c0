package observe

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubetyped/informer/internal/observer"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/report"
)

// Budget limits what an informer keeps, see WithBudget.
type Budget struct {
	// Objects is how many objects there may be, and Bytes what they may weigh by
	// Informer.EstimateHeap; 0 is no limit.
	Objects, Bytes int64
	// Stop ends the informer when it is over a limit: Run returns a *BudgetError. Otherwise
	// it continues.
	Stop bool
	// OnWarning, unless it is nil, is called when four fifths of a limit are used, each time
	// that it comes to that from less. It is called by the informer's goroutine, and must return
	// soon.
	OnWarning func(report.Budget)
}

// WithBudget limits what the informer keeps. It logs when 80% of a limit is used, and when the
// limit is exceeded; Status reports how much is used. The number of objects is looked at with
// every batch of changes and, with Stop, while a list comes. Their size is estimated from 64
// of them: when the informer has synced, and then with a batch when there are a twentieth more
// objects or half a minute has passed. Given to a factory, it is for each of its informers.
//
// An informer that was stopped keeps its last state, as any other, until it is released.
func WithBudget(b Budget) typed.Option { return typed.WithObserver((*ownBudget)(&b)) }

// WithTotalBudget limits what all informers of a factory keep together, until they are
// released; Status.FactoryBudget of each shows the usage. With Stop, those end that
// grow while the limit is passed, or whose list would pass it. It is an option of
// NewFactory; one value of it that is given to several factories is one budget.
func WithTotalBudget(b Budget) typed.Option {
	return typed.WithObserver(&totalBudget{spending: spending{Budget: b}})
}

func (b *Budget) check(option string) error {
	switch {
	case b.Objects < 0 || b.Bytes < 0:
		return fmt.Errorf("%s: a limit is negative", option)
	case b.Objects == 0 && b.Bytes == 0:
		return errors.New(option + ": there is no limit, give Objects or Bytes")
	}
	return nil
}

func (b *Budget) same(other *Budget) bool {
	return b.Objects == other.Objects && b.Bytes == other.Bytes && b.Stop == other.Stop && observer.SameFunction(b.OnWarning, other.OnWarning)
}

// BudgetError is what Run returns for an informer that was over its budget.
type BudgetError struct {
	// Informer is its name, and Created the line that has asked for it.
	Informer string
	Created  report.CallSite
	// Objects is how many objects it had, or was about to have, and Budget what it was
	// allowed and has used.
	Objects int64
	Budget  report.Budget
	// Total reports that the budget was that of all informers of a factory.
	Total bool
}

// Error reports what to do. It does not name the informer, as the error of Run does.
func (e *BudgetError) Error() string {
	alone := ""
	if e.Total {
		alone = "with the other informers of its factory "
	}
	used := fmt.Sprintf("%d objects of %d", e.Objects, e.Budget.Objects)
	if e.Budget.Bytes > 0 && e.Budget.HeapBytes > e.Budget.Bytes {
		used = fmt.Sprintf("about %d MB of %d", e.Budget.HeapBytes>>20, e.Budget.Bytes>>20)
	}
	return fmt.Sprintf("%sit is over its budget, %s: have it watch less (a namespace, a label or field selector), "+
		"keep less of each object (some fields, a projection, metadata only), or give it a larger budget; it was asked for at %v", alone, used, e.Created)
}

// spending is what is used of a Budget.
type spending struct {
	Budget

	mu      sync.Mutex
	objects int64     // guarded by mu
	heap    int64     // guarded by mu
	since   time.Time // guarded by mu; when used came to warnAt
	over    bool      // guarded by mu
}

// warnAt is the part of a budget at which there is a warning.
const warnAt = 0.8

// spend notes what is used now. It returns how much that is, whether it has just come to
// warnAt, and whether it has just passed a limit.
func (s *spending) spend(objects, heap int64, now time.Time) (r report.Budget, warn, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settle(objects, heap, now)
}

// settle is spend for who holds mu.
func (s *spending) settle(objects, heap int64, now time.Time) (r report.Budget, warn, over bool) {
	s.objects, s.heap = objects, heap
	r = s.report()
	switch {
	case r.Used < warnAt:
		s.since = time.Time{}
	case s.since.IsZero():
		s.since, warn = now, true
	}
	over = r.Used > 1 && !s.over
	s.over = r.Used > 1
	r.Since = s.since
	return r, warn, over
}

// now returns what is used.
func (s *spending) now() report.Budget {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.report()
}

// report returns what is used. The caller holds mu.
func (s *spending) report() report.Budget {
	r := report.Budget{Objects: s.Objects, Bytes: s.Bytes, Kept: s.objects, HeapBytes: s.heap, Since: s.since}
	if s.Objects > 0 {
		r.Used = float64(s.objects) / float64(s.Objects)
	}
	if s.Bytes > 0 {
		r.Used = max(r.Used, float64(s.heap)/float64(s.Bytes))
	}
	return r
}

// ownBudget is what each informer may use.
type ownBudget Budget

func (b *ownBudget) Observe(o observer.Observed) (observer.Hooks, error) {
	if err := (*Budget)(b).check(b.Option()); err != nil {
		return observer.Hooks{}, err
	}
	a := &account{Observed: o, spending: &spending{Budget: Budget(*b)}}
	return observer.Hooks{Batch: a.batch, Listing: a.list, Status: func(s *report.Status) { s.Budget = a.spending.now() }}, nil
}

func (b *ownBudget) Option() string { return "WithBudget" }
func (b *ownBudget) Alone() bool    { return false }
func (b *ownBudget) After(earlier observer.Observer) observer.Observer {
	return observer.Latest(b, earlier)
}

func (b *ownBudget) Same(other observer.Observer) bool {
	o, ok := other.(*ownBudget)
	return ok && (*Budget)(b).same((*Budget)(o))
}

// totalBudget is what all informers of a factory may use.
type totalBudget struct {
	spending
	sumObjects, sumHeap atomic.Int64 // of all informers
}

func (b *totalBudget) Observe(o observer.Observed) (observer.Hooks, error) {
	if err := b.check(b.Option()); err != nil {
		return observer.Hooks{}, err
	}
	if !o.Shared() {
		return observer.Hooks{}, errors.New("WithTotalBudget is for the informers of a factory together, give it to NewFactory: this one has WithBudget")
	}
	a := &account{Observed: o, spending: &b.spending, total: b}
	return observer.Hooks{
		Batch: a.batch, Listing: a.list, Released: a.refund,
		Status: func(s *report.Status) { s.FactoryBudget = b.now() },
	}, nil
}

func (b *totalBudget) Option() string                    { return "WithTotalBudget" }
func (b *totalBudget) Alone() bool                       { return false }
func (b *totalBudget) Same(other observer.Observer) bool { return b == other }
func (b *totalBudget) After(earlier observer.Observer) observer.Observer {
	return observer.Latest(b, earlier)
}

// spend notes that the informers have so much more, or less, see spending.spend.
func (b *totalBudget) spend(objects, heap int64, now time.Time) (r report.Budget, warn, over bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.settle(b.sumObjects.Add(objects), b.sumHeap.Add(heap), now)
}
