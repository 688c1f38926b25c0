package typed

import (
	"time"

	"github.com/kubetyped/informer/typed/report"
)

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
