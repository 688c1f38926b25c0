package inspect

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// growth knows how backlogs were in the last minute. The zero value is ready for use.
type growth struct {
	mu   sync.Mutex
	seen map[string]*course // guarded by mu; by part and handler
}

// course is how a number has changed.
type course struct {
	points []point // the earliest first
	used   time.Time
}

// point is a number at one moment.
type point struct {
	at time.Time
	n  int
}

const (
	courseLength = time.Minute     // over which growth is looked at
	courseStep   = 2 * time.Second // between two points
	courseShort  = 3 * time.Second // over which it is not looked at
)

// rate notes a number, and returns by how much a second it has grown, 0 if it has not, or
// nothing is known of the time before.
func (g *growth) rate(of string, n int, now time.Time) float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.seen[of]
	if c == nil {
		if n == 0 {
			return 0
		}
		if g.seen == nil {
			g.seen = map[string]*course{}
		}
		c = &course{}
		g.seen[of] = c
	}
	c.used = now
	c.points = slices.DeleteFunc(c.points, func(p point) bool { return now.Sub(p.at) > courseLength })
	if last := len(c.points) - 1; last < 0 || now.Sub(c.points[last].at) >= courseStep {
		c.points = append(c.points, point{now, n})
	}
	first := c.points[0]
	if over := now.Sub(first.at); over >= courseShort && n > first.n {
		return float64(n-first.n) / over.Seconds()
	}
	return 0
}

// forget forgets numbers that were not asked for since a time.
func (g *growth) forget(before time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	maps.DeleteFunc(g.seen, func(_ string, c *course) bool { return c.used.Before(before) })
}
