package control

import (
	"context"
	"slices"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/internal/shrink"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
)

// expectation is all that is expected for one key. Its fields are guarded by the
// mu of Expectations.
type expectation[K comparable] struct {
	key      K
	unmet    []typed.Expected // empty if, and only if, it has been dropped
	since    time.Time        // something has been expected
	deadline time.Time
	timer    *time.Timer // ends at the deadline, or earlier
	putOff   bool        // the key has to be added again
	listed   bool        // likewise, since something was met by a list
	logger   klog.Logger // of the last call that was put off
}

// add notes that something is expected for key.
func (e *Expectations[K]) add(key K, it typed.Expected) {
	if it.Met() {
		if it.Listed() {
			e.queue.AddWithOptions(key, queue.AddOptions{})
		}
		return
	}
	if e.locked(func() bool { return e.note(key, it) }) {
		e.queue.AddWithOptions(key, queue.AddOptions{})
	}
}

// locked calls f with mu, and gives that back even if a method of what is expected panics.
func (e *Expectations[K]) locked(f func() bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return f()
}

// note notes that something is expected for key, and reports whether the key is to
// be added again: it may have been put off, and then nothing is left to wait for.
// The caller holds mu.
func (e *Expectations[K]) note(key K, it typed.Expected) (again bool) {
	now := time.Now()
	x := e.keys[key]
	if x == nil {
		x = &expectation[K]{key: key, since: now, logger: klog.Background()}
		x.timer = time.AfterFunc(e.timeout, func() {
			defer utilruntime.HandleCrash()
			e.expire(x)
		})
		e.keys[key] = x
	}
	x.deadline = now.Add(e.timeout)
	for _, other := range x.unmet {
		if other.Covers(it) {
			return false
		}
	}
	x.unmet = slices.DeleteFunc(x.unmet, func(other typed.Expected) bool {
		if !it.Covers(other) {
			return false
		}
		other.Unwatch()
		return true
	})
	x.unmet = append(x.unmet, it)
	it.Watch(func() { e.look(x, it) })
	if it.Met() { // before anybody looked
		return e.settle(x, it)
	}
	return false
}

// look notes that something expected may have been met. It is called by an
// informer.
func (e *Expectations[K]) look(x *expectation[K], it typed.Expected) {
	if !it.Met() {
		return
	}
	if e.locked(func() bool { return e.settle(x, it) }) {
		e.queue.AddWithOptions(x.key, queue.AddOptions{})
	}
}

// settle notes that something expected was met, and reports whether the key is
// to be added again. The caller holds mu.
func (e *Expectations[K]) settle(x *expectation[K], it typed.Expected) (again bool) {
	i := slices.Index(x.unmet, it)
	if i < 0 {
		return false
	}
	x.listed = x.listed || it.Listed()
	if len(x.unmet) == 1 {
		return e.drop(x)
	}
	it.Unwatch()
	x.unmet = slices.Delete(x.unmet, i, i+1)
	return false
}

// drop lets go of x, and reports whether the key is to be added again. The
// caller holds mu.
func (e *Expectations[K]) drop(x *expectation[K]) (again bool) {
	for _, it := range x.unmet {
		it.Unwatch()
	}
	x.unmet = nil
	x.timer.Stop()
	delete(e.keys, x.key)
	e.keys = shrink.Map(e.keys, &e.most)
	if x.putOff {
		e.waiting--
	}
	return x.putOff || x.listed
}

// expire lets the key of x go on if its time is over. It is called by the timer.
func (e *Expectations[K]) expire(x *expectation[K]) {
	var unmet []typed.Expected
	again := e.locked(func() bool {
		if len(x.unmet) == 0 {
			return false
		}
		if left := time.Until(x.deadline); left > 0 {
			x.timer.Reset(left)
			return false
		}
		unmet = x.unmet
		e.expired++
		return e.drop(x)
	})
	if len(unmet) == 0 {
		return
	}
	if again { // before the logger, which may panic
		defer e.queue.AddWithOptions(x.key, queue.AddOptions{})
	}
	reasons := make([]string, 0, len(unmet))
	for _, it := range unmet {
		reasons = append(reasons, it.String())
	}
	x.logger.Error(nil, "Informers have not seen what was written, the key goes on without", "key", x.key, "timeout", e.timeout, "expected", reasons)
}

// holdBack reports whether a key that was handed out has to be put off, and
// sees to it that it is added again.
func (e *Expectations[K]) holdBack(ctx context.Context, key K) bool {
	first := ""
	putOff := e.locked(func() bool {
		x := e.keys[key]
		if x == nil || e.catchUp(x) {
			return false
		}
		first = x.unmet[0].String()
		if !x.putOff {
			x.putOff = true
			e.waiting++
		}
		e.putOff++
		x.logger = klog.FromContext(ctx)
		return true
	})
	if !putOff {
		return false
	}
	klog.FromContext(ctx).V(4).Info("Put off until informers have seen what was written", "key", key, "expected", first)
	return true
}

// catchUp lets go of what was met: informers change before they tell. It reports
// whether that is everything. The caller holds mu.
func (e *Expectations[K]) catchUp(x *expectation[K]) bool {
	for _, it := range slices.Clone(x.unmet) {
		if it.Met() {
			e.settle(x, it)
		}
	}
	return len(x.unmet) == 0
}
