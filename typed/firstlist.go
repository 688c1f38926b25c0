package typed

import (
	"sync"
	"sync/atomic"
)

// firstList is the state of the first list. If all its objects were rejected, it is withheld
// until one can be used.
type firstList struct {
	withheld atomic.Bool

	mu      sync.Mutex
	done    bool   // guarded by mu; the informer has a first list
	version string // guarded by mu; of the one that is withheld
	stored  func() // guarded by mu; called when reads reflect it, nil if nothing is
}

// withhold reports whether a list is to be withheld, which it is unless there was
// another one.
func (f *firstList) withhold(version string, done func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done {
		return false
	}
	f.version = version
	f.wait(done)
	f.withheld.Store(true)
	return true
}

// wait adds done to the functions that are called when reads reflect the list. The caller holds mu.
func (f *firstList) wait(done func()) {
	if before := f.stored; before == nil {
		f.stored = done
	} else if done != nil {
		f.stored = func() {
			before()
			done()
		}
	}
}

// take notes that the informer has a list of everything. It returns the function to call when reads
// reflect that list: it calls those of the lists that were withheld before, then done.
func (f *firstList) take(done func()) func() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = true
	f.withheld.Store(false)
	f.wait(done)
	stored := f.stored
	f.stored = nil
	return stored
}
