package plan

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestQuantitiesAreParsedOnce: a quantity that comes again costs nothing, and is what
// the generated code makes of it.
func TestQuantitiesAreParsedOnce(t *testing.T) {
	for text, allocs := range map[string]float64{
		"250m": 0, "1Gi": 0, "0": 0, "1e3": 0,
		"123456789012345678901234567": -1, // parts of it could be modified: it is parsed each time
		"":                            -1, // an error, each time
	} {
		data := append([]byte{1<<3 | bytesType, byte(len(text))}, text...)
		for range 3 {
			var want resource.Quantity
			wanted := want.Unmarshal(data)
			got, err := quantityOf(data)
			require.Equal(t, wanted, err, text)
			require.Equal(t, want, got, text)
		}
		if allocs == 0 {
			assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = quantityOf(data) }), text)
		}
	}
	one, err := quantityOf([]byte{1<<3 | bytesType, 4, '5', '0', '0', 'm'})
	require.NoError(t, err)
	one.Add(resource.MustParse("1"))
	again, err := quantityOf([]byte{1<<3 | bytesType, 4, '5', '0', '0', 'm'})
	require.NoError(t, err)
	assert.Equal(t, resource.MustParse("500m"), again)
}
