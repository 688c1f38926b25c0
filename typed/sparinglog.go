package typed

import (
	"sync"
	"time"
)

// sparingLog says whether a line may be logged, of which there are to be few a minute.
type sparingLog struct {
	mu      sync.Mutex
	minute  time.Time // guarded by mu; when the first line of this minute was logged
	lines   int       // guarded by mu; since then
	leftOut int       // guarded by mu; since the last one that was logged
}

// next returns whether a line may be logged now, and how many were left out before.
func (s *sparingLog) next(now time.Time) (leftOut int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.minute) >= time.Minute {
		s.minute, s.lines = now, 0
	}
	if s.lines == slowLines {
		s.leftOut++
		return 0, false
	}
	s.lines++
	leftOut, s.leftOut = s.leftOut, 0
	return leftOut, true
}
