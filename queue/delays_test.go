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
	type delayed struct {
		due   time.Duration
		entry *entry[int]
	}
	// The numbers of delays wrap around on the way.
	h := delayHeap[int]{seq: ^uint32(0) - uint32(rapid.IntRange(0, 400).Draw(t, "numbers left"))}
	var want []delayed // the earliest first, and the oldest of the same time
	someDue := rapid.IntRange(0, 9)
	sort := func() {
		slices.SortStableFunc(want, func(a, b delayed) int { return cmp.Compare(a.due, b.due) })
	}
	t.Repeat(map[string]func(*rapid.T){
		"push": func(t *rapid.T) {
			for range rapid.IntRange(1, 100).Draw(t, "count") {
				e, due := &entry[int]{}, time.Duration(someDue.Draw(t, "due"))
				h.push(due, e)
				want = append(want, delayed{due, e})
			}
			sort()
		},
		"forward": func(t *rapid.T) {
			if len(want) == 0 {
				return // empty
			}
			i := rapid.IntRange(0, len(want)-1).Draw(t, "which")
			d := want[i]
			d.due -= time.Duration(rapid.IntRange(1, 5).Draw(t, "earlier"))
			h.forward(d.due, d.entry)
			want = append(slices.Delete(want, i, i+1), d)
			sort()
		},
		"remove": func(t *rapid.T) {
			for range rapid.IntRange(1, 40).Draw(t, "count") {
				if len(want) == 0 {
					return // empty
				}
				i := rapid.IntRange(0, len(want)-1).Draw(t, "which")
				h.remove(want[i].entry)
				want = slices.Delete(want, i, i+1)
			}
		},
		"trim": func(*rapid.T) { h.trim() },
		"": func(t *rapid.T) {
			require.Equal(t, len(want), h.len)
			if len(want) > 0 {
				require.Same(t, want[0].entry, h.at(0).entry)
			}
			for _, d := range want {
				if h.due(d.entry) != d.due || h.at(int(d.entry.place)).entry != d.entry {
					t.Fatalf("the place of %v is wrong: %v", d, d.entry.place)
				}
			}
			if h.len < len(h.pages)*delayPage {
				require.Zero(t, *h.at(h.len), "it refers to nothing that is gone")
			}
		},
	})
}

func TestDelayHeapGivesMemoryBack(t *testing.T) {
	var h delayHeap[int]
	fill := func(n int) {
		for i := range n {
			h.push(time.Duration(i), &entry[int]{})
		}
		for h.len > 0 {
			h.remove(h.at(0).entry)
		}
	}
	fill(100_000)
	h.trim()
	h.trim()
	assert.Len(t, h.pages, 0)
	fill(100_000)
	h.trim()
	fill(10_000)
	assert.Greater(t, len(h.pages)*delayPage, 100_000, "it was needed lately")
	h.trim()
	assert.InDelta(t, 10_000, len(h.pages)*delayPage, delayPage)
	h.trim()
	assert.Empty(t, h.pages)
}
