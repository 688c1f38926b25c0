package typed

import (
	"context"
	"fmt"
	"slices"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/typed/source"
)

// unreported queues the rejected objects that are still to be reported to utilruntime.HandleError.
// HandleError waits up to a millisecond between two errors, and calls functions of the user's,
// so a separate goroutine calls it, which exists while objects are queued: the goroutine that
// rejects an object continues at once. Each object is reported; when too many are queued, the
// rejecting goroutine waits.
type unreported struct {
	mu        sync.Mutex
	room      sync.Cond               // on mu: there is some, or Run ends
	waiting   []*source.RejectedError // guarded by mu
	reporting bool                    // guarded by mu: the reporting goroutine runs
	ended     bool                    // guarded by mu
	running   sync.WaitGroup
}

// maxUnreported is how many rejected objects may wait to be reported.
const maxUnreported = 8192

// add queues a rejected object, and starts the reporting goroutine if there is none.
func (u *unreported) add(ctx context.Context, rejected *source.RejectedError) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.room.L = &u.mu
	for len(u.waiting) >= maxUnreported && !u.ended {
		u.room.Wait()
	}
	u.waiting = append(u.waiting, rejected)
	u.start(ctx)
}

// start starts the reporting goroutine if there is none and objects are queued. The caller holds mu.
func (u *unreported) start(ctx context.Context) {
	if len(u.waiting) > 0 && !u.reporting && !u.ended {
		u.reporting = true
		u.running.Go(func() { u.report(ctx) })
	}
}

// report reports the queued objects, one after the other.
func (u *unreported) report(ctx context.Context) {
	u.mu.Lock()
	defer u.mu.Unlock()
	defer func() {
		u.reporting = false
		u.start(ctx) // an error handler may have ended this goroutine
	}()
	for len(u.waiting) > 0 && !u.ended {
		rejected := u.waiting[0]
		u.waiting[0] = nil
		u.waiting = u.waiting[1:]
		u.room.Signal()
		u.unlocked(func() {
			utilruntime.HandleErrorWithContext(ctx, rejected.Err, "Rejected an object",
				"informer", rejected.Informer, "object", rejected.Key, "resourceVersion", rejected.ResourceVersion)
		})
	}
	if len(u.waiting) == 0 {
		u.waiting = nil
	}
}

// unlocked calls a function of the user's without the lock, which the caller holds.
func (u *unreported) unlocked(call func()) {
	u.mu.Unlock()
	defer u.mu.Lock()
	goroutine.CallSafely(call)
}

// end stops the reporting goroutine, when no more objects are rejected. It reports the objects
// that are still queued in one report, so that Run does not wait for long.
func (u *unreported) end(ctx context.Context) {
	u.mu.Lock()
	u.ended = true
	u.mu.Unlock()
	u.running.Wait()
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.waiting) == 0 {
		return
	}
	left := slices.Clone(u.waiting)
	u.waiting = nil
	u.unlocked(func() {
		last := left[len(left)-1]
		utilruntime.HandleErrorWithContext(ctx, fmt.Errorf("%d objects, lately: %w", len(left), last),
			"Rejected objects before the informer stopped", "informer", last.Informer)
	})
}
