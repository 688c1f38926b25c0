package control

import (
	"context"
	"slices"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/internal/container"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
)

// expectation is all that is expected for one key. Its fields are guarded by the
// mu of Expectations.
type expectation[K comparable] struct {
	key      K
	unmet    []awaited // empty if, and only if, it has been dropped
	since    time.Time // something has been expected
	deadline time.Time
	putOff   bool        // the key has to be added again
	listed   bool        // the same, since something was met by a list
	logger   klog.Logger // of the last call that was put off

	node container.Node[expectation[K]] // among the deadlines
}

// awaited is something that is expected.
type awaited struct {
	typed.Expected

	since mark
}

// mark is when a call for a key began, by the lists that there were.
type mark struct {
	lists uint64
	known bool
}

// deadlines have what is expected, the earliest deadline first. All wait for the same time, so
// the latest one is last. There is one timer for all of them, as Go's runtime never gives back
// the memory of those that it has had at a time. Its fields are guarded by the mu of
// Expectations.
type deadlines[K comparable] struct {
	container.List[expectation[K]]
	timer *time.Timer // while there is a first one, it is set: for its deadline, or earlier
}

// add notes that something is expected for key.
func (e *Expectations[K]) add(key K, it typed.Expected) {
	counted := false
	if counter, ok := it.(interface {
		CountLists(*typed.ListCount) (before bool)
	}); ok {
		counted = counter.CountLists(e.lists)
	}
	if e.locked(func() bool { return e.note(key, it, counted) }) {
		e.queue.AddWithOptions(key, queue.AddOptions{})
	}
}

// locked calls f with mu held, and unlocks mu even if a method of an Expected panics.
func (e *Expectations[K]) locked(f func() bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return f()
}

// note notes that something is expected for key, of an informer whose lists were counted
// before or not, and reports whether the key is to be added again: it may have been put
// off, and then nothing is left to wait for. The caller holds mu.
func (e *Expectations[K]) note(key K, it typed.Expected, counted bool) (again bool) {
	e.counting = true
	since := e.calls[key]
	since.known = since.known && counted
	if it.Met() {
		return e.listed(awaited{it, since})
	}
	now := time.Now()
	x := e.keys[key]
	if x == nil {
		x = &expectation[K]{key: key, since: now, logger: klog.Background()}
		x.node.Of = x
		e.keys[key] = x
	} else {
		e.deadlines.Remove(&x.node)
	}
	x.deadline = now.Add(e.timeout)
	e.deadlines.Append(&x.node)
	e.setTimer()
	if slices.ContainsFunc(x.unmet, func(other awaited) bool { return other.Covers(it) }) {
		return false
	}
	x.unmet = slices.DeleteFunc(x.unmet, func(other awaited) bool {
		if !it.Covers(other.Expected) {
			return false
		}
		other.Unwatch()
		return true
	})
	x.unmet = append(x.unmet, awaited{it, since})
	it.Watch(func() { e.look(x, it) })
	if it.Met() { // before it was watched
		return e.settle(x, it)
	}
	return false
}

// listed reports whether a list may have met it: one that came after the call for the key
// began, as far as that is known. A change that reads reflected before was not written by the
// call, or the call has seen it. The caller holds mu.
func (e *Expectations[K]) listed(it awaited) bool {
	if it.since.known {
		return e.lists.Since(it.since.lists)
	}
	return it.Listed()
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
	i := slices.IndexFunc(x.unmet, func(other awaited) bool { return other.Expected == it })
	if i < 0 {
		return false
	}
	x.listed = x.listed || e.listed(x.unmet[i])
	if len(x.unmet) == 1 {
		return e.drop(x)
	}
	it.Unwatch()
	x.unmet = slices.Delete(x.unmet, i, i+1)
	return false
}

// drop removes x, and reports whether the key is to be added again. The caller holds mu.
func (e *Expectations[K]) drop(x *expectation[K]) (again bool) {
	unmet := x.unmet
	x.unmet = nil
	e.deadlines.Remove(&x.node)
	delete(e.keys, x.key)
	e.keys = container.ShrinkMap(e.keys, &e.most)
	if x.putOff {
		e.waiting--
	}
	for _, it := range unmet {
		it.Unwatch()
	}
	return x.putOff || x.listed
}

// setTimer sets the timer for the first deadline. The caller holds mu.
func (e *Expectations[K]) setTimer() {
	d := &e.deadlines
	switch {
	case d.timer == nil:
		d.timer = time.AfterFunc(time.Until(d.First.Of.deadline), func() {
			for e.expireFirst() {
			}
		})
	case d.First.Next == nil: // it was not set, or may be for an earlier one
		d.timer.Reset(time.Until(d.First.Of.deadline))
	}
}

// expireFirst stops holding back the first key if its time is over. The timer calls it. It
// reports whether there may be more such keys, even if something that it calls panics.
func (e *Expectations[K]) expireFirst() (more bool) {
	more = true
	defer utilruntime.HandleCrash()
	var x *expectation[K]
	var unmet []awaited
	again := e.locked(func() bool {
		if e.deadlines.First == nil {
			return false
		}
		first := e.deadlines.First.Of
		if left := time.Until(first.deadline); left > 0 {
			e.deadlines.timer.Reset(left)
			return false
		}
		x, unmet = first, first.unmet
		e.expired++
		return e.drop(x)
	})
	if x == nil {
		return false
	}
	if again { // before the logger, which may panic
		defer e.queue.AddWithOptions(x.key, queue.AddOptions{})
	}
	reasons := make([]string, 0, len(unmet))
	for _, it := range unmet {
		reasons = append(reasons, it.String())
	}
	x.logger.Error(nil, "Expectation timed out, reconciling the key without it", "key", x.key, "timeout", e.timeout, "expected", reasons)
	return true
}

// holdBack reports whether a key that was handed out has to be put off, and sees to it that
// it is added again. Otherwise, it notes the call that begins, if there is anything to know
// of it: end is to be called after that.
func (e *Expectations[K]) holdBack(ctx context.Context, key K) (putOff, noted bool) {
	first := ""
	putOff = e.locked(func() bool {
		x := e.keys[key]
		if x == nil || e.catchUp(x) {
			noted = e.begin(key)
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
	if putOff {
		klog.FromContext(ctx).V(4).Info("Delayed a key until its expectation is met", "key", key, "expected", first)
	}
	return putOff, noted
}

// begin notes that a call for a key begins, unless nothing was ever expected. The caller
// holds mu.
func (e *Expectations[K]) begin(key K) (noted bool) {
	if !e.counting {
		return false
	}
	if _, other := e.calls[key]; !other { // which began before
		e.calls[key] = mark{e.lists.Mark(), true}
	}
	return true
}

// end notes that a call has ended.
func (e *Expectations[K]) end(key K) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.calls, key)
}

// catchUp settles everything that was met: informers change before they call look. It reports
// whether nothing is left. The caller holds mu.
func (e *Expectations[K]) catchUp(x *expectation[K]) bool {
	for _, it := range slices.Clone(x.unmet) {
		if it.Met() {
			e.settle(x, it.Expected)
		}
	}
	return len(x.unmet) == 0
}
