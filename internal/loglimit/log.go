// Package loglimit decides which lines a log writes of a kind that may come thick and fast.
package loglimit

import (
	"sync"
	"time"
)

// PerMinute is how many lines a Log allows in a minute.
const PerMinute = 6

// Log says whether a line may be logged, of which there are to be PerMinute in a minute. A
// minute begins with a line. Its zero value is ready for use. It is safe for concurrent use.
type Log struct {
	mu      sync.Mutex
	until   time.Duration // guarded by mu; the end of the minute
	lines   int           // guarded by mu; in that minute
	leftOut int           // guarded by mu; since the last line
}

// Next reports whether a line may be logged now, and how many were left out before. Times
// are counted from anywhere, always the same.
func (l *Log) Next(now time.Duration) (leftOut int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now >= l.until {
		l.until, l.lines = now+time.Minute, 0
	}
	if l.lines == PerMinute {
		l.leftOut++
		return 0, false
	}
	l.lines++
	leftOut, l.leftOut = l.leftOut, 0
	return leftOut, true
}
