package typed

import "sync/atomic"

// lists is what is known of the lists that an informer has taken over: of what was
// written and deleted again before one of them, no event tells.
type lists struct {
	count  atomic.Uint64
	latest atomic.Pointer[string] // the version of the last one; "" if it is not known, or only that of a part
}

// note notes a list that is about to be taken over.
func (l *lists) note(version string) {
	l.latest.Store(&version)
	l.count.Add(1)
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
