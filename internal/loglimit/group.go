package loglimit

import (
	"cmp"
	"slices"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// gather is how long a line waits for more to fail: much fails for one reason, at one time.
const gather = time.Second

// Summary is one line about a Group.
type Summary struct {
	// Failing names all that fails, in the order of time; Since is when the first of it
	// began to, Err its latest failure.
	Failing []string
	Since   time.Time
	Err     error
	// Recovered names all that works, and failed in an earlier line.
	Recovered []string
}

// Group decides when a log has a line about many things of a kind that are tried again and
// again. There is one line for all of them: a second after something begins to fail, or ten
// after it works again, but a minute after the line before; while nothing changes, at
// intervals that grow to ten minutes. Its methods are safe for concurrent use.
type Group struct {
	log     func(Summary)
	writing sync.Mutex // held through a call of log

	mu       sync.Mutex
	failing  map[string]*failing // guarded by mu
	last     time.Time           // guarded by mu; of a line
	interval time.Duration       // guarded by mu; until the next line if nothing changes
	timer    *time.Timer         // guarded by mu; nil: no line is to come
	at       time.Time           // guarded by mu; of the timer
	ended    bool                // guarded by mu
	logging  sync.WaitGroup      // functions of timers
}

// failing is one thing that fails, or that did a moment ago.
type failing struct {
	since, worked time.Time // worked is zero if it fails
	err           error
	logged        bool
}

// NewGroup returns a Group of things that work. Log writes a line. It is called by a
// goroutine of the Group's own, one call at a time, and must not call End.
func NewGroup(log func(Summary)) *Group {
	return &Group{log: log, failing: map[string]*failing{}}
}

// Fail notes a failure of a thing.
func (g *Group) Fail(name string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	f := g.failing[name]
	if f == nil {
		f = &failing{since: now}
		g.failing[name] = f
	}
	f.worked, f.err = time.Time{}, err
	if f.logged {
		g.wake(now, g.last.Add(g.interval))
	} else {
		g.wake(now, now.Add(gather))
	}
}

// Work notes that a thing works.
func (g *Group) Work(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f := g.failing[name]; f != nil && f.worked.IsZero() {
		f.worked = time.Now()
		g.wake(f.worked, f.worked.Add(settled))
	}
}

// Forget notes that a thing is not there any more.
func (g *Group) Forget(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.failing, name)
}

// End ends the lines, and waits for a call of the function that writes them.
func (g *Group) End() {
	g.mu.Lock()
	g.ended = true
	if g.timer != nil && g.timer.Stop() {
		g.logging.Done()
	}
	g.timer = nil
	g.mu.Unlock()
	g.logging.Wait()
}

// wake looks for a line at a time, a minute after the one before at the earliest. The caller
// holds mu.
func (g *Group) wake(now, at time.Time) {
	if soonest := g.last.Add(time.Minute); !g.last.IsZero() && at.Before(soonest) {
		at = soonest
	}
	if g.ended || g.timer != nil && !at.Before(g.at) {
		return
	}
	if g.timer == nil || !g.timer.Stop() {
		g.logging.Add(1)
	}
	g.at = at
	g.timer = time.AfterFunc(at.Sub(now), func() {
		defer g.logging.Done()
		defer utilruntime.HandleCrash()
		g.writing.Lock()
		defer g.writing.Unlock()
		if line, ok := g.line(time.Now()); ok {
			g.log(line)
		}
	})
}

// line returns the line that is due, false if there is none.
func (g *Group) line(now time.Time) (line Summary, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended || g.timer == nil || now.Before(g.at) {
		return line, false // another timer has taken its place
	}
	g.timer = nil
	changed, next := false, time.Time{}
	for name, f := range g.failing {
		switch {
		case f.worked.IsZero():
			changed = changed || !f.logged
			f.logged = true
			line.Failing = append(line.Failing, name)
		case now.Sub(f.worked) >= settled:
			if f.logged {
				line.Recovered = append(line.Recovered, name)
			}
			delete(g.failing, name)
		case next.IsZero() || f.worked.Before(next):
			next = f.worked
		}
	}
	changed = changed || len(line.Recovered) > 0
	if changed || len(line.Failing) > 0 && now.Sub(g.last) >= g.interval {
		ok = true
		g.interval = min(2*g.interval, longest)
		if changed {
			g.interval = time.Minute
		}
		g.last = now
	}
	if !next.IsZero() {
		g.wake(now, next.Add(settled))
	}
	g.sort(&line)
	return line, ok
}

// sort puts the names of a line in order. The caller holds mu.
func (g *Group) sort(line *Summary) {
	slices.Sort(line.Recovered)
	if len(line.Failing) == 0 {
		return
	}
	slices.SortFunc(line.Failing, func(a, b string) int {
		return cmp.Or(g.failing[a].since.Compare(g.failing[b].since), cmp.Compare(a, b))
	})
	first := g.failing[line.Failing[0]]
	line.Since, line.Err = first.since, first.err
}
