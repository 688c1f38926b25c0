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

// untold are the rejected objects that utilruntime.HandleError is still to be told of. It
// waits up to a millisecond between two errors, and calls functions of the user's, so it is
// called by a goroutine of its own, which is there while there is something to tell: who
// rejects goes on at once. Each is told; when too many wait, so does who rejects.
type untold struct {
	mu      sync.Mutex
	room    sync.Cond               // on mu: there is some, or Run ends
	waiting []*source.RejectedError // guarded by mu
	telling bool                    // guarded by mu: somebody is at it
	ended   bool                    // guarded by mu
	running sync.WaitGroup
}

// maxUntold is how many rejected objects may wait to be told.
const maxUntold = 8192

// add has a rejected object told.
func (u *untold) add(ctx context.Context, rejected *source.RejectedError) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.room.L = &u.mu
	for len(u.waiting) >= maxUntold && !u.ended {
		u.room.Wait()
	}
	u.waiting = append(u.waiting, rejected)
	if !u.telling && !u.ended {
		u.telling = true
		u.running.Go(func() { u.tell(ctx) })
	}
}

// tell tells what waits.
func (u *untold) tell(ctx context.Context) {
	u.mu.Lock()
	defer u.mu.Unlock()
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
	u.telling = false
	if len(u.waiting) == 0 {
		u.waiting = nil
	}
}

// unlocked calls a function of the user's without the lock, which the caller holds.
func (u *untold) unlocked(call func()) {
	u.mu.Unlock()
	defer u.mu.Lock()
	goroutine.CallSafely(call)
}

// end ends that, when nobody rejects anything any more. What waits is told in one report, so
// that Run does not wait for long.
func (u *untold) end(ctx context.Context) {
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
