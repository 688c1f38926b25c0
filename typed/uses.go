package typed

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/report"
)

// uses contains the uses of a factory's informer that were not released. It has its own lock,
// as Status must not wait for the factory, which calls functions of the user's.
type uses struct {
	mu    sync.Mutex
	all   map[*use]bool // guarded by mu
	calls *pendingCalls // guarded by mu; that end with the last use
}

// use is one use of an informer, and where it was asked for.
type use struct{ asked report.CallSite }

func newUses() *uses { return &uses{all: map[*use]bool{}, calls: newPendingCalls()} }

func (u *uses) add(by *use) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.all) == 0 {
		u.calls = newPendingCalls()
	}
	u.all[by] = true
}

func (u *uses) remove(by *use) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if delete(u.all, by); len(u.all) == 0 {
		u.calls.end()
	}
}

// within returns a context that ends with ctx, or with the last use, by index.ErrReleased.
func (u *uses) within(ctx context.Context) (_ context.Context, stop func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.calls.within(ctx)
}

// none reports whether the informer has no uses.
func (u *uses) none() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.all) == 0
}

// sites returns where they were asked for, in the order of files and lines.
func (u *uses) sites() []report.CallSite {
	var sites []report.CallSite
	u.mu.Lock()
	for by := range u.all {
		sites = append(sites, by.asked)
	}
	u.mu.Unlock()
	slices.SortFunc(sites, func(a, b report.CallSite) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return sites
}

// Use returns a use of an informer that its owner runs. Release ends the use, with its
// handlers, and not the informer.
func Use[T index.Object](informer *Informer[T]) *SharedInformer[T] {
	return newSharedInformer(informer, func() {})
}
