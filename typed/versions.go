package typed

import (
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// versions wakes those who wait for a resource version.
type versions struct {
	waiting atomic.Int32 // the length of waiters
	mu      sync.Mutex
	waiters []*versionWaiter // guarded by mu
}

type versionWaiter struct {
	version string
	reached chan struct{}
}

// atLeast reports whether current is version or a later one. A version that is
// not a number is not.
func atLeast(current, version string) bool {
	order, err := resourceversion.CompareResourceVersion(current, version)
	return err == nil && order >= 0
}

// add returns a waiter for version.
func (v *versions) add(version string) *versionWaiter {
	w := &versionWaiter{version: version, reached: make(chan struct{})}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.waiters = append(v.waiters, w)
	v.waiting.Add(1)
	return w
}

// remove forgets w.
func (v *versions) remove(w *versionWaiter) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if i := slices.Index(v.waiters, w); i >= 0 {
		v.waiters = slices.Delete(v.waiters, i, i+1)
		v.waiting.Add(-1)
	}
}

// notify wakes all who wait for current or an earlier version.
func (v *versions) notify(current string) {
	if v.waiting.Load() == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.waiters = slices.DeleteFunc(v.waiters, func(w *versionWaiter) bool {
		if !atLeast(current, w.version) {
			return false
		}
		close(w.reached)
		v.waiting.Add(-1)
		return true
	})
}
