package kube

import (
	"context"
	"sync"
	"time"
)

const (
	// healthyWatch is how long a watch that brings nothing has to last to be one
	// that works, as in client-go's Reflector.
	healthyWatch = time.Second
	// maxUnusable is after how many unusable responses to watches from one version the objects
	// are listed.
	maxUnusable = 3
)

// breaks remembers how watches ended, for the next one. Watches report that on their own
// goroutines.
type breaks struct {
	mu       sync.Mutex
	between  backoff // guarded by mu
	waits    bool    // guarded by mu; the next watch does
	version  string  // guarded by mu; the one after which a response could not be used
	unusable int     // guarded by mu; how often in a row
}

// wait waits before a watch is opened, if the last one has not worked.
func (b *breaks) wait(ctx context.Context) {
	b.mu.Lock()
	waits := b.waits
	b.waits = false
	length := time.Duration(0)
	if waits {
		length = b.between.next(ctx)
	}
	b.mu.Unlock()
	if waits {
		sleep(ctx, length)
	}
}

// ended notes how a watch ended: one that has worked is followed by the next one at
// once.
func (b *breaks) ended(worked bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waits = !worked
	if worked {
		b.between.reset()
	}
}

// isHopeless notes a response that could not be used after a version, and reports
// whether that was so too often.
func (b *breaks) isHopeless(version string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if version != b.version {
		b.version, b.unusable = version, 0
	}
	b.unusable++
	if b.unusable < maxUnusable {
		return false
	}
	b.unusable = 0
	return true
}
