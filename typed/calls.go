package typed

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/report"
)

// stuckAfter is how long a call lasts that is called stuck, unless WithSlowHandlers says
// something else.
const stuckAfter = 5 * time.Minute

// calls times the calls of a handler. One goroutine calls it, others ask.
type calls[T index.Object] struct {
	base time.Time           // from which times are counted, as that is cheaper
	slow func(c report.Call) // told of calls that took longer than limit; nil: nobody is
	// limit is the time that calls may take, 0 for any.
	limit time.Duration

	free time.Duration // owned by the goroutine: when the last call has ended; 0: that is not now

	mu      sync.Mutex
	calling bool             // guarded by mu
	typ     index.EventType  // guarded by mu; of the call that it is in
	key     index.Key        // guarded by mu
	began   time.Duration    // guarded by mu
	times   report.CallTimes // guarded by mu
	recent  recent           // guarded by mu
	slowest report.Call      // guarded by mu; Took is 0 if there is none
	told    bool             // guarded by mu; the stack of this call was logged
}

// begin notes that a call begins. If it follows another one at once, that one's end is
// its beginning.
func (c *calls[T]) begin(e *Event[T]) {
	now := c.free
	if now == 0 {
		now = time.Since(c.base)
	}
	c.mu.Lock()
	c.calling, c.typ, c.key, c.began, c.told = true, e.Type, e.Key(), now, false
	c.mu.Unlock()
}

// end notes that the call has ended.
func (c *calls[T]) end() {
	now := time.Since(c.base)
	c.free = now
	c.mu.Lock()
	took := now - c.began
	c.calling = false
	c.times.Add(took)
	c.recent.add(now, took)
	slow := c.limit > 0 && took > c.limit
	var call report.Call
	if slow || took > c.slowest.Took {
		call = report.Call{Type: c.typ, Key: c.key, Began: c.base.Add(c.began), Took: took}
		if took > c.slowest.Took {
			c.slowest = call
		}
	}
	c.key = index.Key{} // which may hold on to an object
	c.mu.Unlock()
	if slow {
		contain(func() { c.slow(call) })
		c.free = 0
	}
}

// around returns emit, timed.
func (c *calls[T]) around(emit func(*Event[T]) bool) func(*Event[T]) bool {
	return func(e *Event[T]) bool {
		c.begin(e)
		defer c.end()
		return emit(e)
	}
}

// pause notes that something else than calls may take time from now on.
func (c *calls[T]) pause() {
	if c != nil {
		c.free = 0
	}
}

// fill copies what is known into s.
func (c *calls[T]) fill(s *report.Handler, stuck time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	times, recent := c.times, c.recent.sum(time.Since(c.base))
	s.Times, s.Recent = &times, &recent
	if c.slowest.Took > 0 {
		slowest := c.slowest
		s.Slowest = &slowest
	}
	s.Current = c.current()
	s.Stuck = s.Current != nil && s.Current.Took >= stuck
}

// current returns the call that it is in, nil if there is none. The caller holds mu.
func (c *calls[T]) current() *report.Call {
	if !c.calling {
		return nil
	}
	return &report.Call{Type: c.typ, Key: c.key, Began: c.base.Add(c.began), Took: time.Since(c.base) - c.began}
}

// overdue returns the call that it is in, once, if it has lasted for a time.
func (c *calls[T]) overdue(after time.Duration) *report.Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.current()
	if call == nil || c.told || call.Took < after {
		return nil
	}
	c.told = true
	return call
}

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

// pace tells from the reports on a handler whose calls are not timed whether it goes on.
type pace struct {
	mu      sync.Mutex
	handled uint64    // guarded by mu; at since
	since   time.Time // guarded by mu; when it had handled as many for the first time
}

// stuck reports whether it had handled as many a while ago, and has a backlog.
func (p *pace) stuck(handled uint64, backlog int, now time.Time, after time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if backlog == 0 || handled != p.handled || p.since.IsZero() {
		p.handled, p.since = handled, now
		return false
	}
	return now.Sub(p.since) >= after
}
