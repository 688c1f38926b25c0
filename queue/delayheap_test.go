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

// TestDelayHeapModel compares a heap with a list that is sorted.
func TestDelayHeapModel(t *testing.T) { rapid.Check(t, checkDelayHeap) }

func FuzzDelayHeap(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkDelayHeap)) }

func checkDelayHeap(t *rapid.T) {
	// The numbers of delays wrap around on the way.
	h := delayHeap{seq: ^uint32(0) - uint32(rapid.IntRange(0, 20).Draw(t, "numbers left"))}
	var want []delay // the earliest first, and the oldest of the same time
	row := int32(0)
	t.Repeat(map[string]func(*rapid.T){
		"push": func(t *rapid.T) {
			for range rapid.IntRange(1, 40).Draw(t, "count") {
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
		"sweep": func(t *rapid.T) {
			n := int32(rapid.IntRange(1, 4).Draw(t, "every"))
			for range rapid.IntRange(1, 10).Draw(t, "times") {
				h.sweep(func(d delay) bool {
					if d.row%n == 0 {
						return true
					}
					want = slices.DeleteFunc(want, func(other delay) bool { return d == other })
					return false
				})
			}
		},
		"trim": func(*rapid.T) { h.trim() },
		"clear": func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
				h.clear()
				want = nil
			}
		},
		"": func(t *rapid.T) {
			require.Equal(t, len(want), h.len)
			if len(want) > 0 {
				require.Equal(t, want[0], h.first())
			}
		},
	})
}

func TestDelayHeapGivesMemoryBack(t *testing.T) {
	var h delayHeap
	fill := func(n int) {
		for i := range n {
			h.push(time.Duration(i), 0)
		}
		h.clear()
	}
	fill(100_000)
	h.trim()
	assert.Greater(t, len(h.elements.pages)*pageSize, 100_000, "they were needed since the last trim")
	fill(10_000)
	h.trim()
	assert.InDelta(t, 10_000, len(h.elements.pages)*pageSize, 2*pageSize)
	h.trim()
	assert.Len(t, h.elements.pages, keptPages)
	assert.Less(t, cap(h.elements.pages), 8*keptPages)
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
	assert.LessOrEqual(t, q.delays.len, 2*keys+2*pageSize)
}
