package waves

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCount finds the tests by which the time is shared.
func TestCount(t *testing.T) {
	tests, err := count()
	require.NoError(t, err)
	assert.Greater(t, tests, 5)
}

// TestRun checks that the programs run by their seeds.
func TestRun(t *testing.T) {
	var seeds []uint64
	func(t *testing.T) {
		*one = 0
		Run(t, 3, func(_ *testing.T, seed uint64) { seeds = append(seeds, seed) })
		*one = 77
		defer func() { *one = 0 }()
		Run(t, 3, func(_ *testing.T, seed uint64) { seeds = append(seeds, seed) })
	}(t)
	assert.Equal(t, []uint64{1, 2, 3, 77}, seeds)
}

// TestGivesBack uses a slice as a structure that keeps nothing.
func TestGivesBack(t *testing.T) {
	GivesBack(t, func() Structure {
		held := map[int]*[64]byte{}
		return Structure{
			Come: func(key int) { held[key] = new([64]byte) },
			Go:   func(key int) { delete(held, key) },
			Rest: func() {
				kept := make(map[int]*[64]byte, len(held))
				for key, at := range held {
					kept[key] = at
				}
				held = kept
			},
		}
	})
}
