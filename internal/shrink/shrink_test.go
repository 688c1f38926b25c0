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
