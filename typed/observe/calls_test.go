package observe

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/typed/report"
)

// TestRecentCalls: of many quick calls and a slow one, the slow one is seen for a minute.
func TestRecentCalls(t *testing.T) {
	var r recent
	assert.Zero(t, r.sum(time.Hour))
	for second := range 100 {
		r.add(time.Duration(second)*time.Second, time.Millisecond)
	}
	r.add(100*time.Second, 1500*time.Millisecond)
	assert.Equal(t, report.RecentCalls{Calls: 51, Sum: 1550 * time.Millisecond, Max: 1500 * time.Millisecond}, r.sum(101*time.Second))
	assert.Equal(t, report.RecentCalls{Calls: 1, Sum: 1500 * time.Millisecond, Max: 1500 * time.Millisecond}, r.sum(159*time.Second))
	assert.Zero(t, r.sum(160*time.Second))
	r.add(10*time.Minute, time.Second)
	assert.Equal(t, report.RecentCalls{Calls: 1, Sum: time.Second, Max: time.Second}, r.sum(10*time.Minute))
}
