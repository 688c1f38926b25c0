package queue

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTenantsAreLetGo has a burst of keys of many tenants, and then one key
// after the other.
func TestTenantsAreLetGo(t *testing.T) {
	q, err := NewWorkQueue[int](WithFairness(func(key int) string { return strings.Repeat("x", key%100) }))
	require.NoError(t, err)
	process := func(keys int) {
		for key := range keys {
			q.Add(key)
		}
		for range keys {
			key, _ := q.Get()
			q.Done(key)
		}
	}
	const keys = 10_000
	process(keys)
	require.GreaterOrEqual(t, cap(q.schedule.owner), keys)
	for _, of := range q.schedule.tenants.rows[:100] {
		require.Empty(t, of.key)
	}
	for range 20 * keys {
		process(1)
	}
	assert.Less(t, cap(q.schedule.owner), 100, "the memory is given back")
}

func TestTimesOfMetricsGiveMemoryBack(t *testing.T) {
	var m metrics[int]
	m.times.at(9_999).added = 1
	m.fit(minRows)
	assert.Zero(t, cap(m.times))
	m.times.at(minRows - 1).added = 1
	m.fit(minRows)
	assert.Len(t, m.times, minRows)
}
