package container

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type thing struct{ item Item[thing] }

func newThing() *thing {
	e := &thing{}
	e.item.Of = e
	return e
}

// TestHeapModel compares a heap with a list that is sorted.
func TestHeapModel(t *testing.T) { rapid.Check(t, checkHeap) }

func FuzzHeap(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkHeap)) }

func checkHeap(t *rapid.T) {
	type delayed struct {
		due time.Duration
		*thing
	}
	// The numbers of elements wrap around on the way.
	h := Heap[thing]{seq: ^uint32(0) - uint32(rapid.IntRange(0, 400).Draw(t, "numbers left"))}
	var want []delayed // the earliest first, and the oldest of the same time
	someDue := rapid.IntRange(0, 9)
	sort := func() {
		slices.SortStableFunc(want, func(a, b delayed) int { return cmp.Compare(a.due, b.due) })
	}
	t.Repeat(map[string]func(*rapid.T){
		"push": func(t *rapid.T) {
			for range rapid.IntRange(1, 100).Draw(t, "count") {
				d := delayed{time.Duration(someDue.Draw(t, "due")), newThing()}
				h.Push(d.due, &d.item)
				want = append(want, d)
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
			h.Forward(d.due, &d.item)
			want = append(slices.Delete(want, i, i+1), d)
			sort()
		},
		"remove": func(t *rapid.T) {
			for range rapid.IntRange(1, 40).Draw(t, "count") {
				if len(want) == 0 {
					return // empty
				}
				i := rapid.IntRange(0, len(want)-1).Draw(t, "which")
				h.Remove(&want[i].item)
				want = slices.Delete(want, i, i+1)
			}
		},
		"trim": func(*rapid.T) { h.Trim() },
		"": func(t *rapid.T) {
			require.Equal(t, len(want), h.Len())
			due, first := h.First()
			if len(want) == 0 {
				require.EqualValues(t, math.MaxInt64, due)
				require.Nil(t, first)
			} else {
				require.Equal(t, want[0].due, due)
				require.Same(t, want[0].thing, first)
				require.EqualValues(t, h.len-1, h.Any().item.place)
			}
			for _, d := range want {
				if h.Due(&d.item) != d.due || h.at(int(d.item.place)).item.Of != d.thing {
					t.Fatalf("the place of %v is wrong: %v", d, d.item.place)
				}
			}
			if h.len < len(h.pages)*page {
				require.Zero(t, *h.at(h.len), "it refers to nothing that is gone")
			}
		},
	})
}

func TestHeapGivesMemoryBack(t *testing.T) {
	var h Heap[thing]
	fill := func(n int) {
		for i := range n {
			h.Push(time.Duration(i), &newThing().item)
		}
		for h.Len() > 0 {
			_, e := h.First()
			h.Remove(&e.item)
		}
	}
	fill(100_000)
	h.Trim()
	h.Trim()
	assert.Empty(t, h.pages)
	fill(100_000)
	h.Trim()
	fill(10_000)
	assert.Greater(t, len(h.pages)*page, 100_000, "it was needed lately")
	h.Trim()
	assert.InDelta(t, 10_000, len(h.pages)*page, page)
	h.Trim()
	assert.Empty(t, h.pages)
}
