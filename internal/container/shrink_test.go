package container_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/container"
	"github.com/kubetyped/informer/internal/test/waves"
)

// TestShrinkMapGivesBack: a map that is passed through ShrinkMap after each deletion.
func TestShrinkMapGivesBack(t *testing.T) {
	waves.GivesBack(t, func() waves.Structure {
		m, most := map[int]int{}, 0
		return waves.Structure{
			Come: func(key int) { m[key] = key },
			Go: func(key int) {
				delete(m, key)
				m = container.ShrinkMap(m, &most)
			},
			Rest: func() {
				for key, value := range m {
					assert.Equal(t, key, value)
				}
				assert.LessOrEqual(t, most, max(container.KeptKeys, 4*(len(m)+1)), "it would be copied again at once")
			},
		}
	})
}

// TestMapMoves: between the steps, all remaining keys are found, and no deleted one.
func TestMapMoves(t *testing.T) {
	const step = 4096
	const left = 2*step + 1000
	const some = 50
	var s container.Map[int, int]
	for i := range 10 * left {
		s.Put(i, &i)
	}
	for i := left; i < 10*left; i++ {
		s.Delete(i)
	}
	steps := 1
	for s.Shrink(step) {
		missing := 0
		for i := range left {
			if s.Get(i) == nil {
				missing++
			}
		}
		assert.Equal(t, 2*some*(steps-1), missing)
		for i := range some { // some of them have moved, and others have not
			s.Delete(2*some*steps + i)
			other := -steps
			s.Put(2*some*steps+some+i, &other)
			s.Delete(2*some*steps + some + i)
		}
		steps++
	}
	assert.Equal(t, 3, steps)
	assert.Equal(t, left-4*some, s.Len())
	assert.Nil(t, s.Get(2*some))
	assert.Nil(t, s.Get(3*some))
	assert.Equal(t, 0, *s.Get(0))
	assert.False(t, s.Shrink(step), "it is not small for what it had")
	for i := range left {
		if v := s.Get(i); v != nil {
			assert.Equal(t, i, *v)
		}
	}
}

// TestValuesSetWhileAMapMovesStay, whether its key has moved before or not.
func TestValuesSetWhileAMapMovesStay(t *testing.T) {
	var s container.Map[int, string]
	before, after := "before", "after"
	for i := range 20_000 {
		s.Put(i, &before)
	}
	for i := 100; i < 20_000; i++ {
		s.Delete(i)
	}
	require.True(t, s.Shrink(50))
	for i := range 100 {
		s.Put(i, &after)
	}
	assert.Equal(t, 100, s.Len())
	for s.Shrink(10) {
	}
	for i := range 100 {
		assert.Equal(t, "after", *s.Get(i))
	}
}

// TestNeedIsThatOfTwoPeriods, this one and the one before.
func TestNeedIsThatOfTwoPeriods(t *testing.T) {
	var n container.Need
	n.Note(5)
	n.Note(3)
	assert.Equal(t, 5, n.Lately())
	n.Look(2)
	assert.Equal(t, 5, n.Lately())
	n.Note(4)
	n.Look(1)
	assert.Equal(t, 4, n.Lately())
	n.Look(0)
	assert.Equal(t, 1, n.Lately())
}

// TestSpare: what was put is got again, up to as many as are to be kept.
func TestSpare(t *testing.T) {
	var s container.Spare[int]
	one, two := new(int), new(int)
	s.Put(one, 1)
	s.Put(two, 1)
	assert.Same(t, one, s.Get())
	assert.Empty(t, s)
	assert.NotNil(t, s.Get())
}

// TestMapGivesBack: a map that is shrunk when it has not been for a while.
func TestMapGivesBack(t *testing.T) {
	waves.GivesBack(t, func() waves.Structure {
		var s container.Map[int, int]
		return waves.Structure{
			Come: func(key int) { s.Put(key, new(int)) },
			Go:   s.Delete,
			Rest: func() {
				for s.Shrink(4096) {
				}
			},
		}
	})
}
