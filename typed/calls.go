package typed

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/kubetyped/informer/typed/report"
)

// stuckAfter is how long a call lasts that is called stuck, if calls are not timed.
const stuckAfter = 5 * time.Minute

// maxPanicText is how much is kept of what a handler has panicked with, in bytes: some
// panic with an object.
const maxPanicText = 1000

// panics counts the panics of a handler.
type panics struct {
	mu   sync.Mutex
	n    int       // guarded by mu
	last string    // guarded by mu
	at   time.Time // guarded by mu
}

// note is called by utilruntime.HandleCrash.
func (p *panics) note(_ context.Context, value any) {
	text := fmt.Sprint(value) // by a method of the user's, maybe
	if len(text) > maxPanicText {
		text = strings.ToValidUTF8(text[:maxPanicText], "") + " …"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	p.last, p.at = text, time.Now()
}

func (p *panics) fill(s *report.Handler) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.Panics, s.LastPanic, s.LastPanicAt = p.n, p.last, p.at
}

// pace compares the reports on a handler whose calls are not timed, to find out whether the
// handler makes progress.
type pace struct {
	mu      sync.Mutex
	handled uint64    // guarded by mu; at since
	since   time.Time // guarded by mu; when it had handled as many for the first time
}

// stuck reports whether it had handled as many a while ago, and is busy.
func (p *pace) stuck(handled uint64, busy bool, now time.Time, after time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !busy || handled != p.handled || p.since.IsZero() {
		p.handled, p.since = handled, now
		return false
	}
	return now.Sub(p.since) >= after
}
