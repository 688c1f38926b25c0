package observe

import (
	"sync"
	"time"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/typed/report"
)

// calls times the calls of a handler. One goroutine calls it, others ask.
type calls struct {
	base time.Time           // from which times are counted, as that is cheaper
	slow func(c report.Call) // reports calls that took longer than limit
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
	logged  bool             // guarded by mu; the stack of this call was logged
}

// begin notes that a call begins. If it follows another one at once, that one's end is
// its beginning.
func (c *calls) begin(t index.EventType, key index.Key) {
	now := c.free
	if now == 0 {
		now = time.Since(c.base)
	}
	c.mu.Lock()
	c.calling, c.typ, c.key, c.began, c.logged = true, t, key, now, false
	c.mu.Unlock()
}

// end notes that the call has ended.
func (c *calls) end() {
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
		goroutine.CallSafely(func() { c.slow(call) })
		c.free = 0
	}
}

// pause notes that something else than calls may take time from now on.
func (c *calls) pause() { c.free = 0 }

// fill copies what is known into s.
func (c *calls) fill(s *report.Handler, stuck time.Duration) {
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
func (c *calls) current() *report.Call {
	if !c.calling {
		return nil
	}
	return &report.Call{Type: c.typ, Key: c.key, Began: c.base.Add(c.began), Took: time.Since(c.base) - c.began}
}

// overdue returns the call that it is in, once, if it has lasted for a time.
func (c *calls) overdue(after time.Duration) *report.Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.current()
	if call == nil || c.logged || call.Took < after {
		return nil
	}
	c.logged = true
	return call
}

// recent counts the calls of the last minute, in slots of ten seconds.
type recent [6]recentCalls

// recentCalls are the calls that ended in one slot of time.
type recentCalls struct {
	slot int64 // since the beginning
	report.RecentCalls
}

const slotLength = time.Minute / time.Duration(len(recent{}))

// add counts a call that has ended now.
func (r *recent) add(now, took time.Duration) {
	slot := int64(now / slotLength)
	s := &r[slot%int64(len(r))]
	if s.slot != slot {
		*s = recentCalls{slot: slot}
	}
	s.Calls++
	s.Sum += took
	s.Max = max(s.Max, took)
}

// sum returns the calls of the last minute, or up to ten seconds less.
func (r *recent) sum(now time.Duration) (all report.RecentCalls) {
	for i := range r {
		if s := &r[i]; s.slot > int64(now/slotLength)-int64(len(r)) {
			all.Calls += s.Calls
			all.Sum += s.Sum
			all.Max = max(all.Max, s.Max)
		}
	}
	return all
}
