package queue

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestDelaysModel compares a heap with a list that is sorted.
func TestDelaysModel(t *testing.T) { rapid.Check(t, checkDelays) }

func FuzzDelays(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkDelays)) }

func checkDelays(t *rapid.T) {
	// The numbers of delays wrap around on the way.
	h := delays{seq: ^uint32(0) - uint32(rapid.IntRange(0, 20).Draw(t, "numbers left"))}
	var want []delay // the earliest first, and the oldest of the same time
	row := int32(0)
	t.Repeat(map[string]func(*rapid.T){
		"push": func(t *rapid.T) {
			for range rapid.IntRange(1, 5).Draw(t, "count") {
				due := time.Duration(rapid.IntRange(0, 9).Draw(t, "due"))
				want = append(want, h.push(due, row))
				row++
			}
			slices.SortStableFunc(want, func(a, b delay) int { return cmp.Compare(a.due, b.due) })
		},
		"pop": func(t *rapid.T) {
			if len(want) == 0 {
				return // empty
			}
			require.Equal(t, want[0], h.pop())
			want = want[1:]
		},
		"retain": func(t *rapid.T) {
			n := int32(rapid.IntRange(1, 4).Draw(t, "every"))
			h.retain(func(d delay) bool { return d.row%n == 0 })
			want = slices.DeleteFunc(want, func(d delay) bool { return d.row%n != 0 })
		},
		"clear": func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
				h.clear()
				want = nil
			}
		},
		"": func(t *rapid.T) {
			require.Len(t, h.heap, len(want))
			if len(want) > 0 {
				require.Equal(t, want[0], h.heap[0])
			}
		},
	})
}

func TestDelaysGiveMemoryBack(t *testing.T) {
	var h delays
	fill := func(n int) {
		for i := range n {
			h.push(time.Duration(i), 0)
		}
		h.clear()
	}
	fill(10_000)
	size := cap(h.heap)
	fill(size/4 + 1)
	assert.Equal(t, size, cap(h.heap))
	for range 10 * size {
		fill(1)
	}
	assert.Less(t, cap(h.heap), 100)
}

// TestDelaysPutForwardDoNotPileUp has keys that are delayed again and again,
// each time for less long.
func TestDelaysPutForwardDoNotPileUp(t *testing.T) {
	q, err := NewWorkQueue[int]()
	require.NoError(t, err)
	defer q.ShutDown()
	const keys = 100
	for i := range 10_000 {
		for key := range keys {
			q.AddAfter(key, 100*time.Hour-time.Duration(i)*time.Second)
		}
	}
	assert.Equal(t, keys, q.Stats().Delayed)
	q.mu.Lock()
	defer q.mu.Unlock()
	assert.LessOrEqual(t, len(q.delays.heap), 2*keys+64)
}
