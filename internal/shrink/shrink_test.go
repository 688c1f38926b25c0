package shrink_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/internal/shrink"
	"github.com/kubetyped/informer/internal/test/waves"
)

// TestMapGivesBack: a map that is passed through Map after each deletion.
func TestMapGivesBack(t *testing.T) {
	waves.GivesBack(t, func() waves.Structure {
		m, most := map[int]int{}, 0
		return waves.Structure{
			Come: func(key int) { m[key] = key },
			Go: func(key int) {
				delete(m, key)
				m = shrink.Map(m, &most)
			},
			Rest: func() {
				for key, value := range m {
					assert.Equal(t, key, value)
				}
				assert.LessOrEqual(t, most, max(shrink.Kept, 4*(len(m)+1)), "it would be copied again at once")
			},
		}
	})
}

// TestStepsMove: between the steps all that is there is found, and what is deleted is gone.
func TestStepsMove(t *testing.T) {
	const step = 4096
	const left = 2*step + 10
	var s shrink.Steps[int, int]
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
		assert.Equal(t, 2*(steps-1), missing)
		s.Delete(2 * steps)
		other := -steps
		s.Put(2*steps+1, &other) // wherever the old one is
		s.Delete(2*steps + 1)
		steps++
	}
	assert.Equal(t, 3, steps)
	assert.Equal(t, left-4, s.Len())
	assert.Nil(t, s.Get(2))
	assert.Nil(t, s.Get(3))
	assert.Equal(t, 0, *s.Get(0))
	assert.False(t, s.Shrink(step), "it is not small for what it had")
	for i := range left {
		if v := s.Get(i); v != nil {
			assert.Equal(t, i, *v)
		}
	}
}

// TestStepsGiveBack: a map that is shrunk when it has not been for a while.
func TestStepsGiveBack(t *testing.T) {
	waves.GivesBack(t, func() waves.Structure {
		var s shrink.Steps[int, int]
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
