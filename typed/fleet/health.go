package fleet

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubetyped/informer/index"
)

// health is the state of a cluster.
type health struct {
	rejections atomic.Int64 // the length of rejected

	mu      sync.Mutex
	cancel  context.CancelFunc // guarded by mu; of the session
	ended   bool               // guarded by mu; the source has ended
	excused bool               // guarded by mu; the first sync does not wait for it
	listed  bool               // guarded by mu; the informer has its objects, or will with the first list
	lists   int                // guarded by mu
	version string             // guarded by mu; that was passed on, or is about to be, "" if not known
	passed  bool               // guarded by mu; a list was passed to the informer
	reached string             // guarded by mu; the version that was passed on
	contact time.Time          // guarded by mu

	err      *ClusterError // guarded by mu; while it fails
	waiting  error         // guarded by mu; what it waits for, which is no failure
	failures int           // guarded by mu; since it last worked
	since    time.Time     // guarded by mu
	lastErr  error         // guarded by mu
	works    chan struct{} // guarded by mu; closed when it works again, nil while it does

	received, expected int // guarded by mu; of the latest list

	rejected map[rejection]struct{} // guarded by mu
	waiters  []*waiter              // guarded by mu
}

// rejection is an object that was rejected before it came to the fleet, by its key in the
// cluster.
type rejection struct {
	key    index.Key
	stands bool // see source.RejectedError
}

// field returns the value that a field of h has now.
func field[V any](h *health, of *V) V {
	h.mu.Lock()
	defer h.mu.Unlock()
	return *of
}

// current returns what ends the session, nil if there was none.
func (h *health) current() context.CancelFunc { return field(h, &h.cancel) }

// begin notes a session.
func (h *health) begin(cancel context.CancelFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cancel, h.ended = cancel, false
}

// end notes that the source has ended, so that the first sync does not wait for it.
func (h *health) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended, h.excused = true, true
}

// isOver reports whether the source has ended.
func (h *health) isOver() bool { return field(h, &h.ended) }

// excuse keeps the first sync from waiting for the cluster.
func (h *health) excuse() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.excused = true
}

func (h *health) isExcused() bool { return field(h, &h.excused) }

// list notes a list.
func (h *health) list(version string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listed, h.version = true, version
	h.lists++
	h.contact = time.Now()
}

func (h *health) isListed() bool { return field(h, &h.listed) }

// forgetVersions notes that the cluster may be another server from now on, which counts
// versions by itself: nothing of it has been passed on.
func (h *health) forgetVersions() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.version, h.passed, h.reached = "", false, ""
}

// drop notes that nothing is known of the cluster any more, and returns what was rejected.
func (h *health) drop() (rejected []rejection) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listed, h.version, h.passed, h.reached = false, "", false, ""
	for one := range h.rejected {
		rejected = append(rejected, one)
	}
	h.rejected = nil
	h.rejections.Store(0)
	return rejected
}

// pass notes a version that was passed on, "" for that of the list, and returns the waiters
// that it satisfies.
func (h *health) pass(version string) (reached []*waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.contact = time.Now()
	if version != "" {
		h.version = version
	}
	h.passed, h.reached = true, h.version
	if len(h.waiters) == 0 {
		return nil
	}
	left := h.waiters[:0]
	for _, w := range h.waiters {
		has := h.has(w)
		if has {
			reached = append(reached, w)
		}
		if !has || w.stays {
			left = append(left, w)
		}
	}
	clear(h.waiters[len(left):])
	h.waiters = left
	return reached
}

// has reports whether what is waited for was passed on. The caller holds mu.
func (h *health) has(w *waiter) bool {
	return h.passed && (w.version == "" || atLeast(h.reached, w.version))
}

// fail notes a failure, and reports whether the cluster has worked before. Over is closed
// when it works again.
func (h *health) fail(err *ClusterError) (first bool, over <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	first = h.failures == 0
	if first {
		h.since, h.works = time.Now(), make(chan struct{})
	}
	h.failures++
	h.err, h.lastErr, h.excused = err, err, true
	return first, h.works
}

// wait notes what the cluster waits for, which is no failure.
func (h *health) wait(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting = err
}

// work notes that the cluster works.
func (h *health) work() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.works != nil {
		close(h.works)
		h.works = nil
	}
	h.contact = time.Now()
	h.err, h.waiting, h.failures, h.since = nil, nil, 0, time.Time{}
}

// countLists returns how many lists there were.
func (h *health) countLists() int { return field(h, &h.lists) }

// failure returns what the cluster fails with, nil if it works.
func (h *health) failure() *ClusterError { return field(h, &h.err) }

// progress notes how far the list has come, and returns how much more that is.
func (h *health) progress(received, expected int) (more, moreExpected int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	more, moreExpected = int64(received-h.received), int64(expected-h.expected)
	h.received, h.expected = received, expected
	h.contact = time.Now()
	return more, moreExpected
}

// reject notes that the source has rejected an object.
func (h *health) reject(one rejection) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rejected == nil {
		h.rejected = map[rejection]struct{}{}
	}
	h.rejected[one] = struct{}{}
	h.rejections.Store(int64(len(h.rejected)))
}

// repair notes that an object has come that was rejected, or that it is gone.
func (h *health) repair(one rejection) {
	if h.rejections.Load() == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.rejected, one)
	h.rejections.Store(int64(len(h.rejected)))
}

// takeRejected forgets and returns the rejected objects of a namespace or, with nil, of the
// cluster, except those that its list has rejected again.
func (h *health) takeRejected(namespace *string, but []index.Key) (repaired []index.Key) {
	if h.rejections.Load() == 0 {
		return nil
	}
	stay := sets.New(but...)
	h.mu.Lock()
	defer h.mu.Unlock()
	for one := range h.rejected {
		if one.stands || stay.Has(one.key) || namespace != nil && one.key.Namespace != *namespace {
			continue
		}
		repaired = append(repaired, one.key)
		delete(h.rejected, one)
	}
	h.rejections.Store(int64(len(h.rejected)))
	return repaired
}

// atLeast reports whether current is version or a later one. A version that is not a
// number is not.
func atLeast(current, version string) bool {
	order, err := resourceversion.CompareResourceVersion(current, version)
	return err == nil && order >= 0
}
