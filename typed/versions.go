package typed

import (
	"container/heap"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kubetyped/informer/internal/container"
	"github.com/kubetyped/informer/internal/goroutine"
)

// versions calls the waiters for a resource version when it is reached. It costs the informer
// one look at a counter if there are no waiters, and one at the lowest version waited for
// otherwise.
type versions struct {
	waiting atomic.Int32 // the length of waiters
	mu      sync.Mutex
	waiters versionHeap // guarded by mu
}

// versionWaiter waits for a version, once.
type versionWaiter struct {
	version string // one that can be compared
	reached func() // called by the informer without a lock; must return soon
	place   int    // in the heap; guarded by versions.mu
	waits   bool   // is in the heap; guarded by versions.mu
}

// atLeast reports whether current is version or a later one. A version that is
// not a number is not.
func atLeast(current, version string) bool {
	order, err := resourceversion.CompareResourceVersion(current, version)
	return err == nil && order >= 0
}

// add registers w, which is called when its version is reached from now on. The caller then has
// to check whether it is reached already.
func (v *versions) add(w *versionWaiter) {
	v.mu.Lock()
	defer v.mu.Unlock()
	heap.Push(&v.waiters, w)
	v.waiting.Store(int32(len(v.waiters)))
}

// remove forgets w, if it waits. It may still be called once if it is about to
// be.
func (v *versions) remove(w *versionWaiter) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if w.waits {
		heap.Remove(&v.waiters, w.place)
		v.waiting.Store(int32(len(v.waiters)))
	}
}

// notify calls the waiters for current and for earlier versions.
func (v *versions) notify(current string) {
	if v.waiting.Load() > 0 {
		v.release(func(w *versionWaiter) bool { return atLeast(current, w.version) })
	}
}

// end calls all waiters.
func (v *versions) end() {
	v.release(func(*versionWaiter) bool { return true })
}

// release calls waiters, the lowest version first, as long as reached returns true.
func (v *versions) release(reached func(*versionWaiter) bool) {
	var released []*versionWaiter
	v.mu.Lock()
	for len(v.waiters) > 0 && reached(v.waiters[0]) {
		released = append(released, heap.Pop(&v.waiters).(*versionWaiter))
	}
	v.waiting.Store(int32(len(v.waiters)))
	v.mu.Unlock()
	for _, w := range released {
		goroutine.CallSafely(w.reached)
	}
}

// versionHeap is a heap.Interface of waiters, the one with the lowest version first.
type versionHeap []*versionWaiter

func (h versionHeap) Len() int           { return len(h) }
func (h versionHeap) Less(i, j int) bool { return !atLeast(h[i].version, h[j].version) }

func (h versionHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *versionHeap) Push(w any) {
	waiter := w.(*versionWaiter)
	waiter.place, waiter.waits = len(*h), true
	*h = append(*h, waiter)
}

func (h *versionHeap) Pop() any {
	last := len(*h) - 1
	w := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	if cap(*h) > container.KeptKeys && last < cap(*h)/4 {
		*h = append(make(versionHeap, 0, 2*last), *h...)
	}
	w.waits = false
	return w
}
