package typed

import (
	"slices"
	"sync"
	"sync/atomic"
	"weak"
)

// ListCount counts the lists that informers take over, for expectations, see Expected. The
// zero value counts. Methods are safe for concurrent use.
type ListCount struct{ begun, done atomic.Uint64 }

// Mark returns what Since is given: reads that begin after Mark has returned reflect all
// lists before it.
func (c *ListCount) Mark() uint64 { return c.done.Load() }

// Since reports whether there were lists that reads which began at a mark may not reflect.
func (c *ListCount) Since(mark uint64) bool { return c.begun.Load() != mark }

// lists records the lists that an informer has taken over. No event reports an object that was
// written and deleted again before one of them.
type lists struct {
	count  atomic.Uint64
	latest atomic.Pointer[string] // the version of the last one; "" if it is not known, or only that of a part

	mu     sync.Mutex
	counts []weak.Pointer[ListCount] // guarded by mu; all counters that are referred to
	taking bool                      // guarded by mu; a list is being taken over
}

// begin notes a list that is about to be taken over. End has to follow.
func (l *lists) begin(version string) {
	l.latest.Store(&version)
	l.count.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taking = true
	l.each(func(c *ListCount) { c.begun.Add(1) })
}

// end notes that reads reflect the list, or that it was not taken over.
func (l *lists) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taking = false
	l.each(func(c *ListCount) { c.done.Add(1) })
}

// countIn counts lists in c from now on, and reports whether it did so before.
func (l *lists) countIn(c *ListCount) (before bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.each(func(other *ListCount) { before = before || other == c })
	if before {
		return true
	}
	l.counts = append(l.counts, weak.Make(c))
	if l.taking {
		c.begun.Add(1)
	}
	return false
}

// each calls f for all counters, and drops those that are not referred to any more. The
// caller holds mu.
func (l *lists) each(f func(c *ListCount)) {
	l.counts = slices.DeleteFunc(l.counts, func(of weak.Pointer[ListCount]) bool {
		c := of.Value()
		if c != nil {
			f(c)
		}
		return c == nil
	})
}

// haveReached reports whether a list may be what has brought the informer to a version:
// there was one since so many, or the last one was not before it.
func (l *lists) haveReached(version string, since uint64) bool {
	if l.count.Load() != since {
		return true
	}
	latest := l.latest.Load()
	return latest != nil && (*latest == "" || atLeast(*latest, version))
}

// progress is how far the latest list has come.
type progress struct {
	received, expected atomic.Int64
}

func (p *progress) note(received, expected int) {
	p.received.Store(int64(received))
	p.expected.Store(int64(expected))
}
