package semantic

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestEqual: quantities are compared by value, and fields that are not exported as they are.
func TestEqual(t *testing.T) {
	t.Parallel()
	type exported struct{ Size resource.Quantity }
	one, same, other := exported{resource.MustParse("1")}, exported{resource.MustParse("1000m")}, exported{resource.MustParse("2")}
	assert.True(t, Equal[exported]()(one, same))
	assert.False(t, Equal[exported]()(one, other))

	type private struct{ size *int }
	equal := Equal[private]()
	for range 2 {
		assert.True(t, equal(private{new(1)}, private{new(1)}))
		assert.False(t, equal(private{new(1)}, private{new(2)}))
	}
}
