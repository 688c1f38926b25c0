package queue_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/queue"
)

// drainAll returns all keys that wait, in turn, and calls Done with each.
func drainAll[K comparable](t require.TestingT, q *queue.WorkQueue[K]) []K {
	var keys []K
	for q.Len() > 0 {
		key, shutDown := q.Get()
		require.False(t, shutDown)
		keys = append(keys, key)
		q.Done(key)
	}
	return keys
}

func priority(p int) queue.AddOptions { return queue.AddOptions{Priority: p} }

func TestHigherPrioritiesComeFirst(t *testing.T) {
	q := newQueue[string](t)
	q.AddWithOptions("low-1", priority(queue.LowPriority))
	q.Add("normal-1")
	q.AddWithOptions("high-1", priority(5))
	q.AddWithOptions("higher", priority(6))
	q.Add("normal-2")
	q.AddWithOptions("high-2", priority(5))
	q.AddWithOptions("low-2", priority(queue.LowPriority))
	assert.Equal(t, []string{"higher", "high-1", "high-2", "normal-1", "normal-2", "low-1", "low-2"}, drainAll(t, q))
}

func TestPriorityIsRaisedAndNeverLowered(t *testing.T) {
	q := newQueue[string](t)
	for _, key := range []string{"a", "b", "c"} {
		q.AddWithOptions(key, priority(1))
	}
	q.AddWithOptions("d", priority(2))
	q.AddWithOptions("a", priority(2))
	q.AddWithOptions("a", priority(1))
	q.AddWithOptions("b", priority(0))
	q.Add("c")
	assert.Equal(t, []string{"d", "a", "b", "c"}, drainAll(t, q), "a comes after what had the priority before")
}

func TestPriorityOfKeysAddedWhileProcessed(t *testing.T) {
	q := newQueue[string](t)
	q.AddWithOptions("a", priority(9))
	key, _ := q.Get()
	require.Equal(t, "a", key)
	q.AddWithOptions("a", priority(2))
	q.AddWithOptions("a", priority(4))
	q.AddWithOptions("a", priority(3))
	q.AddWithOptions("five", priority(5))
	q.AddWithOptions("three", priority(3))
	q.Done("a")
	assert.Equal(t, []string{"five", "a", "three"}, drainAll(t, q), "it is the highest since it was handed out")
}

// TestRetriesKeepTheirPriority: a key that its own worker adds again does not overtake.
func TestRetriesKeepTheirPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, retry := range map[string]func(q *queue.WorkQueue[string]){
			"delayed":      func(q *queue.WorkQueue[string]) { q.AddAfter("a", second) },
			"at once":      func(q *queue.WorkQueue[string]) { q.AddAfter("a", 0) },
			"rate limited": func(q *queue.WorkQueue[string]) { q.AddRateLimited("a") },
		} {
			for _, p := range []int{3, queue.LowPriority} {
				q := newQueue[string](t)
				q.AddWithOptions("a", priority(p))
				_, _ = q.Get()
				retry(q)
				q.Done("a")
				pass(second)
				q.AddWithOptions("above", priority(p+1))
				q.AddWithOptions("below", priority(p-1))
				assert.Equal(t, []string{"above", "a", "below"}, drainAll(t, q), name)
				retry(q)
				pass(second)
				q.AddWithOptions("above", priority(1))
				q.AddWithOptions("below", priority(-1))
				assert.Equal(t, []string{"above", "a", "below"}, drainAll(t, q), "%s: not in process", name)
				q.ShutDown()
			}
		}
	})
}

func TestPriorityOfDelayedKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue[string](t, queue.WithRateLimiter(always(second)))
		defer q.ShutDown()
		q.AddWithOptions("a", queue.AddOptions{Priority: 3, After: 2 * second})
		q.AddWithOptions("a", queue.AddOptions{Priority: 2, After: second})
		q.AddWithOptions("b", queue.AddOptions{Priority: 4, RateLimited: true})
		q.AddWithOptions("c", queue.AddOptions{Priority: 2, RateLimited: true, After: 2 * second})
		q.AddWithOptions("d", queue.AddOptions{Priority: 5, RateLimited: true, After: second / 2})
		pass(second/2 - moment)
		require.Zero(t, q.Len())
		pass(moment)
		require.Equal(t, []string{"d"}, drainAll(t, q), "the shorter delay counts")
		pass(second / 2)
		assert.Equal(t, []string{"b", "a", "c"}, drainAll(t, q), "the higher priority counts")
		assert.EqualValues(t, 5, q.Stats().Retries)
	})
}

// TestNoPriorityWaitsForEver keeps the higher priorities busy all the time.
func TestNoPriorityWaitsForEver(t *testing.T) {
	const ageing = 10
	q := newQueue[string](t, queue.WithAgeing(ageing))
	for i := range 5 {
		q.AddWithOptions(fmt.Sprint("low-", i), priority(-5))
		q.AddWithOptions(fmt.Sprint("lowest-", i), priority(queue.LowPriority))
	}
	q.Add("normal-0")
	var turns []string
	for i := range 5*(ageing+2) + 1 {
		q.Add(fmt.Sprint("normal-", i+1))
		key, _ := q.Get()
		q.Done(key)
		if !strings.HasPrefix(key, "normal") {
			turns = append(turns, fmt.Sprint(key, "@", i+1))
		}
	}
	assert.Equal(t, []string{
		"low-0@11", "lowest-0@12",
		"low-1@22", "lowest-1@23",
		"low-2@33", "lowest-2@34",
		"low-3@44", "lowest-3@45",
		"low-4@55", "lowest-4@56",
	}, turns, "each comes after ten others, or eleven, as the one that waited longer goes first")
}

func TestDefaultAgeing(t *testing.T) {
	q := newQueue[int](t)
	q.AddWithOptions(-1, priority(queue.LowPriority))
	for i := range 100 {
		q.Add(i)
	}
	assert.Equal(t, -1, drainAll(t, q)[32])
}

// TestALargeTenantDoesNotDelayAnother has one with 100,000 keys, and others with
// one or two.
func TestALargeTenantDoesNotDelayAnother(t *testing.T) {
	const many = 100_000
	q := newQueue[string](t, queue.WithFairness(tenantOf))
	defer q.ShutDown()
	for i := range many {
		q.Add("a" + strconv.Itoa(i))
	}
	for _, key := range []string{"b1", "c1", "b2"} {
		q.Add(key)
	}
	keys := drainAll(t, q)
	require.Len(t, keys, many+3)
	assert.Equal(t, []string{"a0", "b1", "c1", "a1", "b2", "a2", "a3"}, keys[:7])
	assert.Equal(t, "a99999", keys[many+2])
}

func TestTenantsTakeTurns(t *testing.T) {
	q := newQueue[string](t, queue.WithFairness(tenantOf))
	take := func(n int) (keys []string) {
		for range n {
			key, _ := q.Get()
			keys = append(keys, key)
		}
		return keys
	}
	for _, key := range []string{"a1", "a2", "a3", "b1", "b2", "c1"} {
		q.Add(key)
	}
	assert.Equal(t, []string{"a1", "b1"}, take(2))
	q.Add("d1")
	q.Add("a4")
	assert.Equal(t, []string{"c1", "a2", "b2", "d1"}, take(4), "a new tenant comes after those that were there")
	q.Add("c2")
	q.Add("b3")
	assert.Equal(t, []string{"a3", "c2", "b3", "a4"}, take(4))

	q.Add("c2") // in process
	q.Add("e1")
	q.Add("e2")
	q.Done("c2")
	assert.Equal(t, []string{"e1", "c2", "e2"}, take(3), "what waits again belongs to its tenant")
}

// TestFairnessIsWithinAPriority: one tenant has more keys in both priorities.
func TestFairnessIsWithinAPriority(t *testing.T) {
	q := newQueue[string](t, queue.WithFairness(tenantOf))
	for _, key := range []string{"a1", "a2", "a3"} {
		q.AddWithOptions(key, priority(1))
	}
	for _, key := range []string{"b1", "a4", "a5", "b2"} {
		q.Add(key)
	}
	q.AddWithOptions("b2", priority(1))
	assert.Equal(t, []string{"a1", "b2", "a2", "a3", "b1", "a4", "a5"}, drainAll(t, q))
}

// TestManyPriorities gives each key its own priority.
func TestManyPriorities(t *testing.T) {
	const keys = 2000
	q := newQueue[int](t, queue.WithAgeing(10*keys))
	defer q.ShutDown()
	var want []int
	for i := range keys {
		p := (i * 7919) % keys
		q.AddWithOptions(p, priority(p))
		want = append(want, keys-1-i)
	}
	assert.Equal(t, want, drainAll(t, q))
}

func TestPrioritiesHaveNoLimits(t *testing.T) {
	q := newQueue[string](t)
	for key, p := range map[string]int{"first": math.MaxInt, "second": math.MaxInt - 1, "third": math.MinInt + 1, "last": math.MinInt} {
		q.AddWithOptions(key, priority(p))
	}
	assert.Equal(t, []string{"first", "second", "third", "last"}, work(t, q))
}
