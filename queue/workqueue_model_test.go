package queue_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/queue"
)

// TestWorkQueueModel compares a queue with a model of its rules, through random
// operations, passing time and shutdowns. The model also checks the bound on
// waiting that the rules lead to.
func TestWorkQueueModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ rapid.TB }{t}, checkWorkQueue) // without a deadline, which a bubble does not have
	})
}

func FuzzWorkQueue(f *testing.F) {
	f.Fuzz(func(t *testing.T, input []byte) {
		synctest.Test(t, func(t *testing.T) { rapid.MakeFuzz(checkWorkQueue)(t, input) })
	})
}

// tenantOf is the letter that a key begins with.
func tenantOf(key string) string { return key[:1] }

func checkWorkQueue(t *rapid.T) {
	m := &model{
		fair:    rapid.Bool().Draw(t, "fair"),
		ageing:  rapid.IntRange(1, 5).Draw(t, "ageing"),
		start:   time.Now(),
		keys:    map[string]*modelKey{},
		metrics: newDepths(),
	}
	opts := []queue.Option{
		queue.WithRateLimiter(always(second)), queue.WithAgeing(m.ageing),
		queue.WithName("model"), queue.WithMetrics(m.metrics),
	}
	if m.fair {
		opts = append(opts, queue.WithFairness(tenantOf))
	}
	if m.joined = rapid.Bool().Draw(t, "joined"); m.joined {
		opts = append(opts, queue.WithJoinedDelays())
	}
	if rapid.Bool().Draw(t, "bounded") {
		m.capacity = rapid.IntRange(1, 6).Draw(t, "capacity")
		opts = append(opts, queue.WithCapacity(m.capacity))
	}
	q, err := queue.NewWorkQueue[string](opts...)
	require.NoError(t, err)
	defer q.ShutDown()
	t.Repeat(actions(q, m))
}

var (
	someKey      = rapid.StringMatching("[a-c][1-4]")
	somePriority = rapid.SampledFrom([]int{0, 0, 1, 7, queue.LowPriority, -1})
	someDelay    = rapid.SampledFrom([]time.Duration{0, 1, 3, second, second, 2 * second, -1})
)

// actions are what may happen to a queue and its model, and "" is what is looked
// at after each.
func actions(q *queue.WorkQueue[string], m *model) map[string]func(*rapid.T) {
	all := map[string]func(*rapid.T){
		"done": func(t *rapid.T) {
			key := someKey.Draw(t, "key")
			if k := m.keys[key]; k == nil || !k.processing {
				return // not in process
			}
			q.Done(key)
			m.done(key)
		},
		"pass": func(t *rapid.T) {
			pass(rapid.SampledFrom([]time.Duration{1, 2, second - 1, second}).Draw(t, "time"))
			m.comeDue()
		},
		"shut down": func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
				q.ShutDown()
				m.stop()
				m.drains = 0
			}
		},
		"drain": func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
				m.draining.Add(1)
				go func() {
					q.ShutDownWithDrain()
					m.draining.Add(-1)
				}()
				m.stop()
				m.drains++
			}
		},
		"": func(t *rapid.T) {
			synctest.Wait()
			m.comeDue()
			if m.isIdle() {
				m.drains = 0
			}
			require.Equal(t, m.stats(), q.Stats(), m)
			m.checkMetrics(t)
			require.Equal(t, m.drains, m.draining.Load(), "drains that wait")
			require.Equal(t, len(m.line), q.Len())
			require.Equal(t, m.shutDown, q.ShuttingDown())
		},
	}
	maps.Copy(all, adds(q, m))
	maps.Copy(all, gets(q, m))
	return all
}

// adds are the ways to add a key.
func adds(q *queue.WorkQueue[string], m *model) map[string]func(*rapid.T) {
	options := func(t *rapid.T) queue.AddOptions {
		return queue.AddOptions{
			Priority: somePriority.Draw(t, "priority"), After: someDelay.Draw(t, "after"), RateLimited: rapid.Bool().Draw(t, "limited"),
		}
	}
	return map[string]func(*rapid.T){
		"add": func(t *rapid.T) {
			key := someKey.Draw(t, "key")
			q.Add(key)
			_ = m.add(key, 0, 0, false)
		},
		"add after": func(t *rapid.T) {
			key, d := someKey.Draw(t, "key"), someDelay.Draw(t, "delay")
			q.AddAfter(key, d)
			_ = m.add(key, m.keep(key), d, true)
		},
		"add rate limited": func(t *rapid.T) {
			key := someKey.Draw(t, "key")
			q.AddRateLimited(key)
			_ = m.add(key, m.keep(key), second, true)
		},
		"add with options": func(t *rapid.T) {
			key, o := someKey.Draw(t, "key"), options(t)
			q.AddWithOptions(key, o)
			_ = m.addWith(key, o)
		},
		"try": func(t *rapid.T) {
			key, o := someKey.Draw(t, "key"), options(t)
			err := q.TryAdd(key, o)
			if m.isFull(key, o) {
				require.ErrorIs(t, err, queue.ErrFull)
			} else {
				require.ErrorIs(t, err, m.addWith(key, o))
			}
		},
	}
}

// gets are the ways to get keys.
func gets(q *queue.WorkQueue[string], m *model) map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"get": func(t *rapid.T) {
			if len(m.line) == 0 {
				return // nothing to get
			}
			key, priority, err := q.GetWithPriority(t.Context())
			require.NoError(t, err)
			require.Equal(t, m.get(t), key)
			require.Equal(t, m.keys[key].priority, priority)
		},
		"get a batch": func(t *rapid.T) {
			if len(m.line) == 0 {
				return // nothing to get
			}
			keys := make([]string, rapid.IntRange(1, 5).Draw(t, "room"))
			n, err := q.GetBatch(t.Context(), keys)
			require.NoError(t, err)
			require.Equal(t, min(len(keys), len(m.line)), n)
			for _, key := range keys[:n] {
				require.Equal(t, m.get(t), key)
			}
		},
		"get nothing": func(t *rapid.T) {
			if len(m.line) > 0 || m.dueWithin(1) {
				return // there is something, or will be
			}
			want := context.DeadlineExceeded
			if m.shutDown {
				want = queue.ErrShutDown
			}
			ctx, cancel := context.WithTimeout(t.Context(), 1)
			defer cancel()
			_, err := q.GetContext(ctx)
			require.ErrorIs(t, err, want)
			synctest.Wait()
		},
	}
}

// String lists the waiting keys, for messages.
func (m *model) String() string {
	var s strings.Builder
	for _, k := range m.line {
		fmt.Fprintf(&s, "%s (%d) ", k.name, k.priority)
	}
	return s.String()
}

// dueWithin reports whether something comes due until d has passed.
func (m *model) dueWithin(d time.Duration) bool {
	return slices.ContainsFunc(m.delays, func(k *modelKey) bool { return k.due <= m.now()+d })
}
