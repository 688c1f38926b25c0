package index

import (
	"runtime"
	"slices"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestVectorModel compares a vector of several pages with a slice, and every
// view of it with a copy that was made at the time.
func TestVectorModel(t *testing.T) { rapid.Check(t, checkVector) }

func checkVector(t *rapid.T) {
	type state struct {
		pages pages[int]
		model []int
	}
	start := rapid.SampledFrom([]uint32{0, 1, pageSize - 1, pageSize, 2*pageSize + 1}).Draw(t, "length")
	var gen epoch
	vector, model := makeVector[int](&gen, start), make([]int, start)
	var (
		written int
		views   []state
	)
	check := func(p pages[int], model []int) {
		require.EqualValues(t, len(model), p.n)
		require.True(t, slices.Equal(model, p.collect()))
		for _, i := range []int{0, 1, pageSize - 1, pageSize, pageSize + 1, len(model) / 2, len(model) - 1} {
			if i >= 0 && i < len(model) {
				require.Equal(t, model[i], p.at(uint32(i)))
			}
		}
	}
	length := rapid.OneOf(rapid.IntRange(1, 4), rapid.IntRange(pageSize-2, pageSize+2))
	t.Repeat(map[string]func(*rapid.T){
		"push": func(t *rapid.T) {
			for range length.Draw(t, "count") {
				written++
				vector.push(&gen, written)
				model = append(model, written)
			}
		},
		"pop": func(t *rapid.T) {
			for range min(length.Draw(t, "count"), len(model)) {
				vector.pop(&gen)
				model = model[:len(model)-1]
			}
		},
		"set": func(t *rapid.T) {
			if len(model) == 0 {
				return // nothing to set
			}
			written++
			i := rapid.IntRange(0, len(model)-1).Draw(t, "place")
			vector.set(&gen, uint32(i), written)
			model[i] = written
		},
		"view": func(*rapid.T) {
			views = append(views, state{vector.pages, slices.Clone(model)})
			views = views[max(0, len(views)-3):]
			gen.gen++
		},
		"fork": func(t *rapid.T) { // what happens to one that is dropped does not show
			fork, later := vector, epoch{gen: gen.gen + 1}
			for range min(length.Draw(t, "popped"), len(model)) {
				fork.pop(&later)
			}
			for range length.Draw(t, "pushed") {
				fork.push(&later, -1)
			}
			for i := uint32(0); i < fork.n; i += pageSize / 3 {
				fork.set(&later, i, -1)
			}
		},
		"": func(*rapid.T) {
			check(vector.pages, model)
			for _, v := range views {
				check(v.pages, v.model)
			}
		},
	})
	require.True(t, slices.Equal(model, slices.Collect(all(vector.pages))))
}

// TestVectorCopiesOnlyWrittenPages shows the price of a view: the pages that
// are written to afterwards, each once.
func TestVectorCopiesOnlyWrittenPages(t *testing.T) {
	var first epoch
	second := epoch{gen: 1}
	v := makeVector[int](&first, 3*pageSize)
	view := v.pages
	shared := func(p int) bool { return &view.table[p][0] == &v.table[p][0] }

	v.set(&first, pageSize, 1)
	require.True(t, shared(1), "the same generation writes in place")

	v.set(&second, pageSize, 2)
	own := &v.table[1][0]
	v.set(&second, pageSize+1, 3)
	assert.True(t, shared(0))
	assert.False(t, shared(1))
	assert.True(t, shared(2))
	assert.Same(t, own, &v.table[1][0], "a page is copied once in a generation")
}

func TestVectorFreesPoppedElements(t *testing.T) {
	var v vector[*[64]byte]
	var e epoch
	v.push(&e, new([64]byte))
	v.push(&e, new([64]byte))
	popped := weak.Make(v.at(1))
	v.pop(&e)
	runtime.GC()
	assert.Nil(t, popped.Value())
	runtime.KeepAlive(&v)
}

func TestEpochBeginsAnewOnlyAfterAView(t *testing.T) {
	var e epoch
	e.begin()
	e.begin()
	require.EqualValues(t, 0, e.gen)
	e.share()
	e.share()
	e.begin()
	e.begin()
	assert.EqualValues(t, 1, e.gen)
}

// makeVector returns a vector of n zero elements.
func makeVector[E any](e *epoch, n uint32) vector[E] {
	v := roomFor[E](e, int(n))
	for range n {
		v.push(e, *new(E))
	}
	return v
}
